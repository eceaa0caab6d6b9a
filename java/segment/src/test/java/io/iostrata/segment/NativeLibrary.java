package io.iostrata.segment;

import java.nio.file.Files;
import java.nio.file.Path;

/** The library of this checkout's build, which holds the native writer. */
public final class NativeLibrary {
  private NativeLibrary() {}

  /** {@code target/release/libiostrata_loader.so}; its absence is an error, never a skip. */
  public static Path path() {
    Path start = Path.of("").toAbsolutePath();
    for (Path folder = start; folder != null; folder = folder.getParent()) {
      Path library = folder.resolve("target/release/libiostrata_loader.so");
      if (Files.isRegularFile(library)) {
        return library;
      }
    }
    throw new AssertionError(
        "no target/release/libiostrata_loader.so above "
            + start
            + ": build it with cargo build --release");
  }

  static void load() {
    System.load(path().toString());
  }
}
