package io.iostrata.segment;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * DIR/control as the agent's own thread reads it. Read, not mapped: whoever truncates a mapped file
 * kills its readers. It stays open, which halves what looking costs, until no collector has written
 * to it for some looks: another may have put a new one in its place.
 */
final class ControlPage {
  private static final int BYTES = Schema.CONTROL_POINTS_OFF + Schema.PROCESS_MAX_POINTS / 8;

  private static final int LOOKS_WITHOUT_BEAT = 10;

  private final Path path;
  private final int uid;
  private RandomAccessFile file;
  private long beat;
  private int looks;
  private final byte[] bytes = new byte[BYTES];
  private final ByteBuffer page = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  private volatile long[] pointsOff = new long[Schema.PROCESS_MAX_POINTS / 64];

  ControlPage(Path directory, int uid) {
    this.path = directory.resolve("control");
    this.uid = uid;
  }

  /** The control word; 0 (off) when there is no page or it is not to be trusted. */
  synchronized int read() {
    if (!readable()) {
      return 0;
    }
    // One read in ascending order: a new word means that the bitmap behind it is new, too.
    long[] off = new long[Schema.PROCESS_MAX_POINTS / 64];
    for (int i = 0; i < off.length; i++) {
      off[i] = page.getLong(Schema.CONTROL_POINTS_OFF + i * 8);
    }
    pointsOff = off;
    return page.getInt(Schema.CONTROL_WORD);
  }

  /** A code of {@code level}. */
  synchronized int level() {
    return page.getInt(Schema.CONTROL_LEVEL);
  }

  /** Of a billion requests, how many are kept; 0: all. */
  synchronized int sampling() {
    return page.getInt(Schema.CONTROL_SAMPLING);
  }

  /** Millionths of its CPU time that tracing may cost a process; 0: as much as it takes. */
  synchronized int budget() {
    return page.getInt(Schema.CONTROL_BUDGET);
  }

  /** ns of CPU that an event costs the collector. */
  synchronized int eventCost() {
    return page.getInt(Schema.CONTROL_EVENT_COST);
  }

  boolean pointOff(int point) {
    return (pointsOff[point >> 6] >>> point & 1) != 0;
  }

  private boolean readable() {
    try {
      if (file == null) {
        file = new RandomAccessFile(path.toString(), "r");
        if (!trusted()) {
          close();
          return false;
        }
      }
      file.seek(0);
      file.readFully(bytes);
    } catch (IOException e) {
      close();
      return false;
    }
    long now = page.getLong(Schema.CONTROL_HEARTBEAT);
    looks = now == beat ? looks + 1 : 0;
    beat = now;
    if (looks >= LOOKS_WITHOUT_BEAT) {
      looks = 0;
      close();
    }
    return page.getInt(Schema.PREAMBLE_MAGIC) == Schema.MAGIC
        && page.getShort(Schema.PREAMBLE_VERSION) == Schema.VERSION
        && page.getShort(Schema.PREAMBLE_FILE_KIND) == Schema.FILE_KIND_CONTROL;
  }

  /** Opened again when it is read again. */
  synchronized void close() {
    RandomAccessFile open = file;
    file = null;
    try {
      if (open != null) {
        open.close();
      }
    } catch (IOException e) {
      // nothing was written to it
    }
  }

  private boolean trusted() {
    try {
      int owner = (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      return owner == 0 || owner == uid;
    } catch (IOException e) {
      return false;
    }
  }
}
