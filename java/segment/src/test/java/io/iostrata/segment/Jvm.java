package io.iostrata.segment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Child JVMs of the JDKs at hand. */
final class Jvm {
  private Jvm() {}

  /** {@code java} of the feature release, null when it is not installed. */
  static Path java(int release) throws IOException {
    for (Path home : JdkHomes.all()) {
      Path about = home.resolve("release");
      Path java = home.resolve("bin/java");
      if (Files.isReadable(about)
          && Files.readString(about).contains("JAVA_VERSION=\"" + release)) {
        return java;
      }
    }
    return null;
  }

  /** Starts {@link Writer} with these JVM options and arguments; its output goes to {@code log}. */
  static Process start(Path java, Path log, List<String> options, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(java.toString()));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Writer.class.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  static int waitFor(Process process) throws InterruptedException {
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError("still running after 60 s: " + process.info());
    }
    return process.exitValue();
  }
}
