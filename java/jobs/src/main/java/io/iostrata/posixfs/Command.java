package io.iostrata.posixfs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of a file system that says where something is. */
final class Command {
  private static final long PATIENCE_SECONDS = 30;
  private static final int MOST_LINES = 1_000_000;

  private Command() {}

  /** Its output; raises IOException where it fails, with the last line that it said. */
  static List<String> run(List<String> words, String input) throws IOException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    try {
      try (OutputStream in = process.getOutputStream()) {
        in.write(input.getBytes(StandardCharsets.UTF_8));
      }
      List<String> lines = lines(process);
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        String last = lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
        throw new IOException(words.get(0) + " has failed: " + last);
      }
      return lines;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException(words.get(0) + " was interrupted", interrupted);
    } finally {
      process.destroy();
    }
  }

  private static List<String> lines(Process process) throws IOException {
    List<String> lines = new ArrayList<>();
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line;
      while ((line = out.readLine()) != null && lines.size() < MOST_LINES) {
        lines.add(line);
      }
    }
    return lines;
  }
}
