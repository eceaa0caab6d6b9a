package io.iostrata.agent;

/** The field {@code since}, which only people and tests read. */
final class PointSince {
  private PointSince() {}

  /** Empty when every supported version has the point. */
  static String of(int id) {
    for (String line : PointText.table().split("\n")) {
      if (line.startsWith(id + "\t")) {
        return line.substring(line.lastIndexOf('\t') + 1);
      }
    }
    throw new AssertionError("no point " + id);
  }
}
