package io.iostrata.segment;

/** Words of a slot that hold several fields. */
final class Slot {
  private static final long MAX_ASKED = 0xFFFFFFFFL;

  private Slot() {}

  /** target | point &lt;&lt; 32 | kind &lt;&lt; 48 | flags &lt;&lt; 56 */
  static long what(long target, int point, int kind, int flags) {
    return target & 0xFFFFFFFFL | (long) point << 32 | (long) kind << 48 | (long) flags << 56;
  }

  /** ret | asked &lt;&lt; 32, asked saturated. */
  static long result(int ret, long asked) {
    return ret & 0xFFFFFFFFL | Math.min(asked, MAX_ASKED) << 32;
  }
}
