package io.iostrata.segment;

/** Keys of counter rows. */
final class Row {
  /** Points are below 1024: of their 16 bits in a key the upper ones hold the flags. */
  static final int POINT_MASK = Schema.PROCESS_MAX_POINTS - 1;

  private static final int FLAGS = Schema.FLAG_INNER | Schema.FLAG_COVERED;
  private static final int FLAGS_SHIFT = 10;

  /** Duration of a call that was not timed. */
  static final long UNTIMED = -1;

  private Row() {}

  /**
   * point | inner and covered &lt;&lt; 10 | category of the target &lt;&lt; 16 | size class
   * &lt;&lt; 24 | context &lt;&lt; 32
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

  /** Size class of a key. */
  static int sizeClassOf(long key) {
    return (int) (key >>> 24) & 0xFF;
  }

  /** Key of the row that takes what has no row of its own: the point and its flags stay. */
  static long collapsedKey(long key) {
    return key & 0xFFFF | (long) Schema.SIZE_CLASS_FOLD << 24;
  }

  /** 0 for no bytes, else 1 + floor(log2(bytes)). */
  static int sizeClass(long bytes) {
    return 64 - Long.numberOfLeadingZeros(bytes);
  }
}
