package io.iostrata.segment;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** DIR/control as the agent's own thread reads it. */
final class ControlPage {
  private static final int BYTES = Schema.CONTROL_POINTS_OFF + Schema.PROCESS_MAX_POINTS / 8;

  private final String path;
  private final int uid;
  private final byte[] bytes = new byte[BYTES];
  private final ByteBuffer page = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  private volatile long[] pointsOff = new long[Schema.PROCESS_MAX_POINTS / 64];

  ControlPage(Path directory, int uid) {
    this.path = directory.resolve("control").toString();
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
    return Native.readControl(path, bytes, uid)
        && page.getInt(Schema.PREAMBLE_MAGIC) == Schema.MAGIC
        && page.getShort(Schema.PREAMBLE_VERSION) == Schema.VERSION
        && page.getShort(Schema.PREAMBLE_FILE_KIND) == Schema.FILE_KIND_CONTROL;
  }
}
