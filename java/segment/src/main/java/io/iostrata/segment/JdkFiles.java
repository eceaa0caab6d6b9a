package io.iostrata.segment;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Through what every JDK has. */
final class JdkFiles implements RecorderFiles {
  private static final int LOOKS_WITHOUT_BEAT = 10;

  /**
   * Stays open, which halves what looking costs, until no collector has written to it for some
   * looks: another may have put a new one in its place.
   */
  private RandomAccessFile control;

  private long beat;
  private int looks;

  @Override
  public String makeDirectory(String dir, int uid, String name) throws IOException {
    return TraceDirectory.create(Paths.get(dir), uid, name).toString();
  }

  @Override
  public MappedByteBuffer create(String path, int size) throws IOException {
    return MappedFile.create(Paths.get(path), size);
  }

  @Override
  public synchronized boolean readControl(String path, byte[] page, int uid) {
    // Read, not mapped: whoever truncates a mapped file kills its readers.
    try {
      if (control == null) {
        control = new RandomAccessFile(path, "r");
        if (!trusted(Paths.get(path), uid)) {
          close();
          return false;
        }
      }
      control.seek(0);
      control.readFully(page);
    } catch (IOException e) {
      close();
      return false;
    }
    long now = ByteBuffer.wrap(page).order(LITTLE_ENDIAN).getLong(Schema.CONTROL_HEARTBEAT);
    looks = now == beat ? looks + 1 : 0;
    beat = now;
    if (looks >= LOOKS_WITHOUT_BEAT) {
      looks = 0;
      close();
    }
    return true;
  }

  @Override
  public synchronized void close() {
    RandomAccessFile open = control;
    control = null;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException e) {
      // nothing was written to it
    }
  }

  private static boolean trusted(Path path, int uid) {
    try {
      int owner = (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      return owner == 0 || owner == uid;
    } catch (IOException e) {
      return false;
    }
  }
}
