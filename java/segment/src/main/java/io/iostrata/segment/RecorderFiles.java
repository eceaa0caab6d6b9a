package io.iostrata.segment;

import java.io.IOException;
import java.nio.MappedByteBuffer;

/** How a recorder makes and reads its files. */
public interface RecorderFiles {
  /**
   * Makes DIR/UID/NAME, and DIR/UID if need be, for nobody but this user.
   *
   * @param dir the directory that the collector drains
   * @param uid of the process, as the directory says it
   * @return its path
   * @throws IOException in one line: DIR is missing, read-only, full or another user's
   */
  String makeDirectory(String dir, int uid, String name) throws IOException;

  /**
   * A new file of {@code size} zero bytes that are reserved, mapped until the garbage collector
   * finds its buffer.
   *
   * @throws IOException the file exists, or there is no room for it; then nothing is left behind
   */
  MappedByteBuffer create(String path, int size) throws IOException;

  /**
   * Reads the control page from its beginning to the end of {@code page}.
   *
   * @return false when there is none, or it belongs to neither root nor {@code uid}
   */
  boolean readControl(String path, byte[] page, int uid);

  /** Lets go of what the control page was read through. */
  void close();
}
