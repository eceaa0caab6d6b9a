package io.iostrata.segment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The JDKs of this machine: the one that runs, those of JAVA_HOME and PATH, and those beside. */
public final class JdkHomes {
  private JdkHomes() {}

  public static List<Path> all() throws IOException {
    Set<Path> named = new LinkedHashSet<>();
    named.add(Path.of(System.getProperty("java.home")).toRealPath());
    String home = System.getenv("JAVA_HOME");
    if (home != null && Files.isDirectory(Path.of(home))) {
      named.add(Path.of(home).toRealPath());
    }
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":")) {
      Path java = Path.of(folder, "java");
      if (Files.isExecutable(java)) {
        named.add(java.toRealPath().getParent().getParent());
      }
    }
    Set<Path> found = new LinkedHashSet<>(named);
    for (Path one : named) {
      found.addAll(beside(one));
    }
    List<Path> homes = new ArrayList<>(found);
    homes.removeIf(path -> !Files.isExecutable(path.resolve("bin/java")));
    return homes;
  }

  private static List<Path> beside(Path home) throws IOException {
    try (Stream<Path> homes = Files.list(home.getParent())) {
      return homes.sorted().toList();
    }
  }
}
