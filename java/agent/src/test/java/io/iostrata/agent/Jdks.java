package io.iostrata.agent;

import io.iostrata.segment.JdkHomes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The JDKs of this machine that run the test programs: one for each major version from 17. */
final class Jdks {
  record Jdk(int version, Path home) {
    @Override
    public String toString() {
      return "JDK " + version;
    }
  }

  private Jdks() {}

  static List<Jdk> all() throws IOException {
    Map<Integer, Jdk> found = new TreeMap<>();
    for (Path home : JdkHomes.all()) {
      add(found, home);
    }
    if (found.size() == 1) {
      System.out.println(
          "SKIPPED: only " + found.values() + " is installed: nothing newer is tested");
    }
    return List.copyOf(found.values());
  }

  private static void add(Map<Integer, Jdk> found, Path home) throws IOException {
    Path release = home.resolve("release");
    if (!Files.exists(release)) {
      return;
    }
    for (String line : Files.readAllLines(release)) {
      if (line.startsWith("JAVA_VERSION=")) {
        int version = Runtime.Version.parse(line.substring(14, line.length() - 1)).feature();
        if (version >= 17) {
          found.putIfAbsent(version, new Jdk(version, home));
        }
      }
    }
  }
}
