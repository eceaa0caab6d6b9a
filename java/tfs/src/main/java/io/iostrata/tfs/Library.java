package io.iostrata.tfs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Locale;

/** The native writer, which the jar brings along: loaded from a copy that nobody else may touch. */
final class Library {
  private static final String NAME = "libiostrata_loader.so";

  /** Where copies may lie, the next one where the one before is mounted noexec or full. */
  private static final String[] PLACES = {"java.io.tmpdir", "user.dir"};

  // Bits of a mode; in a sticky folder only its owner may rename what is there.
  private static final int OTHERS_WRITE = 0022;
  private static final int STICKY = 01000;

  private Library() {}

  /**
   * Binds the methods of {@code io.iostrata.segment.Native}.
   *
   * @throws IOException in one line: there is none for this system, or no place to load it from
   */
  static void load() throws IOException {
    String system = system();
    if (Library.class.getResource(system + "/" + NAME) == null) {
      throw new IOException("this jar has no library for " + system);
    }
    String why = "";
    for (String place : PLACES) {
      Path folder = Paths.get(System.getProperty(place, "."));
      try {
        loadFrom(folder, system);
        return;
      } catch (IOException | UnsatisfiedLinkError e) {
        why += "; " + folder + ": " + e.getMessage();
      }
    }
    throw new IOException("its library loads from nowhere" + why);
  }

  /** As Maven names it: linux-amd64. */
  private static String system() {
    return System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
        + "-"
        + System.getProperty("os.arch", "");
  }

  /** The folder that is made belongs to this user alone (mode 700), and goes with the copy. */
  private static void loadFrom(Path place, String system) throws IOException {
    int mode = (Integer) Files.getAttribute(place, "unix:mode");
    if ((mode & OTHERS_WRITE) != 0 && (mode & STICKY) == 0) {
      throw new IOException("others may put another file in its place");
    }
    Path folder = Files.createTempDirectory(place, "iostrata-tfs");
    Path copy = folder.resolve(NAME);
    try (InputStream packed = Library.class.getResourceAsStream(system + "/" + NAME)) {
      Files.copy(packed, copy);
      System.load(copy.toAbsolutePath().toString());
    } finally {
      Files.deleteIfExists(copy);
      Files.deleteIfExists(folder);
    }
  }
}
