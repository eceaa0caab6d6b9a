package io.iostrata.jobs.swim;

/** Cuts bytes into parts that differ by one byte at the most, the larger ones first. */
final class Shares {
  private Shares() {}

  static long share(long total, long parts, long part) {
    return total / parts + (part < total % parts ? 1 : 0);
  }

  /** Where a part begins: the sum of the shares before it. */
  static long start(long total, long parts, long part) {
    return total / parts * part + Math.min(part, total % parts);
  }

  /** What a map hands to each reduce: its row of the parts of all maps and reduces. */
  static long[] row(long total, int maps, int reduces, int map) {
    long parts = (long) maps * reduces;
    long[] shares = new long[reduces];
    for (int reduce = 0; reduce < reduces; reduce++) {
      shares[reduce] = share(total, parts, (long) map * reduces + reduce);
    }
    return shares;
  }

  /** What a reduce gets from all maps: its column of the same parts. */
  static long column(long total, int maps, int reduces, int reduce) {
    long larger = total % ((long) maps * reduces);
    long rows = larger > reduce ? (larger - reduce + reduces - 1) / reduces : 0;
    return total / ((long) maps * reduces) * maps + rows;
  }
}
