package io.iostrata.agent;

import java.util.Arrays;
import java.util.List;

/** The fields {@code since} and {@code until}, which only people, tests and Python read. */
final class PointVersions {
  private static final List<String> FIELDS = line(0);

  private PointVersions() {}

  /**
   * Whether a version of Hadoop, as {@code 3.3.6}, of the JDK, as {@code jdk 17}, of Spark or of
   * HBase has it.
   */
  static boolean has(int id, String version) {
    for (int row = 1; ; row++) {
      List<String> point = line(row);
      if (point.get(0).equals(Integer.toString(id))) {
        String since = point.get(FIELDS.indexOf("since"));
        String until = point.get(FIELDS.indexOf("until"));
        return (since.isEmpty() || compare(version, since) >= 0)
            && (until.isEmpty() || compare(version, until) <= 0);
      }
    }
  }

  private static List<String> line(int number) {
    return Arrays.asList(PointText.table().split("\n")[number].split("\t", -1));
  }

  /** As far as the second goes: 3.3.6 equals 3.3. */
  private static int compare(String version, String bound) {
    int[] left = numbers(version);
    int[] right = numbers(bound);
    return Arrays.compare(Arrays.copyOf(left, right.length), right);
  }

  private static int[] numbers(String version) {
    String digits = version.replaceAll("jdk |spark |hbase ", "");
    return Arrays.stream(digits.split("\\.")).mapToInt(Integer::parseInt).toArray();
  }
}
