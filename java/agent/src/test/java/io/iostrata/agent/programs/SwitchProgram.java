package io.iostrata.agent.programs;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes a byte to {@code off}, another control page arrives, writes two to {@code on}. */
public final class SwitchProgram {
  private SwitchProgram() {}

  public static void main(String[] arguments) throws Exception {
    Path files = Path.of(arguments[0]);
    write(files.resolve("off").toFile(), 1);
    Path traces = files.resolveSibling("traces");
    Files.move(
        files.resolve("control"), traces.resolve("control"), StandardCopyOption.REPLACE_EXISTING);
    // The page that nobody writes to any more stays open for ten looks.
    Thread.sleep(3500);
    write(files.resolve("on").toFile(), 2);
  }

  private static void write(File file, int bytes) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file)) {
      out.write(new byte[bytes]);
    }
  }
}
