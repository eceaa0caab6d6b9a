package io.iostrata.load;

import java.util.Random;

/** Where requests go that are not in sequence, as fio's distribution {@code zoned} has it. */
final class Positions {
  private final Point point;
  private final int accesses;
  private final long zone;
  private final Random random;

  Positions(Point point, long seed) {
    String[] skew = point.access.split("-");
    this.point = point;
    accesses = Integer.parseInt(skew[0]);
    zone = point.size * Integer.parseInt(skew[1]) / 100;
    random = new Random(seed);
  }

  /** A multiple of the request, and a whole request before the end. */
  long next() {
    boolean isOften = random.nextInt(100) < accesses;
    long low = isOften ? 0 : zone;
    long high = isOften ? zone : point.size;
    long at = low + (long) (random.nextDouble() * (high - low));
    return Math.min(at / point.request, point.size / point.request - 1) * point.request;
  }
}
