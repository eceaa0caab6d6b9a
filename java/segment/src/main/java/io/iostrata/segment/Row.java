package io.iostrata.segment;

import java.nio.IntBuffer;
import java.nio.LongBuffer;

/** Keys and updates of counter rows. */
final class Row {
  /** Points are below 512: of their 16 bits in a key the upper ones hold the flags. */
  static final int POINT_MASK = Schema.PROCESS_MAX_POINTS - 1;

  private static final int FLAGS = Schema.FLAG_INNER | Schema.FLAG_COVERED;
  private static final int FLAGS_SHIFT = 9;

  /** Duration of a call that was not timed. */
  static final long UNTIMED = -1;

  private Row() {}

  /**
   * point | inner and covered &lt;&lt; 9 | category of the target &lt;&lt; 16 | size class &lt;&lt;
   * 24 | context &lt;&lt; 32
   */
  static long key(int point, int flags, long target, long bytes, int context) {
    return point
        | (flags & FLAGS) << FLAGS_SHIFT
        | (target >>> 32 & 0xFF) << 16
        | (long) sizeClass(bytes) << 24
        | (long) context << 32;
  }

  /** Flags of a key. */
  static byte flags(long key) {
    return (byte) (key >> FLAGS_SHIFT & FLAGS);
  }

  /** Key of the row that takes what has no row of its own: the point and its flags stay. */
  static long foldKey(long key) {
    return key & 0xFFFF | (long) Schema.SIZE_CLASS_FOLD << 24;
  }

  /** 0 for no bytes, else 1 + floor(log2(bytes)). */
  static int sizeClass(long bytes) {
    return 64 - Long.numberOfLeadingZeros(bytes);
  }

  /**
   * Adds one call to the row at {@code at}: a sequence lock, `count` last, so that a row cut short
   * by `kill -9` never counts a call whose bytes are missing.
   */
  static void add(
      Segment segment, int at, long bytes, long asked, boolean error, long dur, long end) {
    IntBuffer ints = segment.ints;
    LongBuffer longs = segment.longs;
    int lock = at + Schema.ROW_VERSION >> 2;
    int row = at >> 3;
    int version = ints.get(lock);
    ints.put(lock, version + 1);
    Fence.release();
    add(longs, row + (Schema.ROW_BYTES >> 3), bytes);
    add(longs, row + (Schema.ROW_ASKED >> 3), asked);
    if (error) {
      add(longs, row + (Schema.ROW_ERRORS >> 3), 1);
    }
    if (dur != UNTIMED) {
      addTime(longs, row, dur, end);
    }
    Fence.release();
    add(longs, row + (Schema.ROW_COUNT >> 3), 1);
    Fence.release();
    ints.put(lock, version + 2);
  }

  private static void addTime(LongBuffer longs, int row, long dur, long end) {
    long timed = longs.get(row + (Schema.ROW_TIMED >> 3));
    longs.put(row + (Schema.ROW_TIMED >> 3), timed + 1);
    add(longs, row + (Schema.ROW_TIMED_DUR >> 3), dur);
    if (timed == 0 || dur < longs.get(row + (Schema.ROW_MIN >> 3))) {
      longs.put(row + (Schema.ROW_MIN >> 3), dur);
    }
    if (dur > longs.get(row + (Schema.ROW_MAX >> 3))) {
      longs.put(row + (Schema.ROW_MAX >> 3), dur);
    }
    longs.put(row + (Schema.ROW_LAST_END >> 3), end);
  }

  private static void add(LongBuffer longs, int at, long amount) {
    longs.put(at, longs.get(at) + amount);
  }
}
