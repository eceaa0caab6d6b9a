package io.iostrata.segment;

/**
 * Which calls of a point are timed where clocks would cost more than the calls: one, at random, of
 * each block of consecutive ones, for all of which it stands. Blocks grow while calls turn out to
 * be short, and with their number: the first calls are all timed, and long ones for a while.
 *
 * <p>The sum of weight × time estimates the time of all; its variance is that of stratified
 * sampling, weight × (weight - 1) × (time - mean)² a call.
 */
final class Sampler {
  private static final int FIRST = 32;
  private static final int LONGEST = 128;

  /**
   * A call that takes as long as this is worth its own clock, ns; later this times GROWN at most.
   */
  private static final int WORTH = 4096;

  private static final int GROWN = 16;

  /** Calls after which one has to be twice as long; then four times as many, and so on. */
  private static final int MANY = 1 << 17;

  /** The mean follows this many calls. */
  private static final int MEMORY = 16;

  /** Calls that the one timed now, or else the next, stands for: a power of two. */
  int weight = 1;

  /** Calls until the next that is timed, and how many of its block are behind it. */
  private int wait = 1;

  private int rest;
  private int timed;
  private double mean;
  private int worth = WORTH;
  private long calls;
  private long many = MANY;
  private long random;

  Sampler(long seed) {
    random = seed * 0x9E3779B97F4A7C15L | 1;
  }

  /**
   * A call begins: true when it is to be timed; then {@link #ended} is due, or it is next again.
   */
  boolean next() {
    return --wait <= 0;
  }

  /** The timed call took so many ns; what that adds to the variance of the sum of times. */
  double ended(long time) {
    double off = time - mean;
    double spread = (double) weight * (weight - 1) * off * off;
    if (timed < FIRST) {
      timed++;
    }
    mean += off / Math.min(timed, MEMORY);
    draw();
    return spread;
  }

  private void draw() {
    calls += weight;
    if (calls > many && worth < WORTH * GROWN) {
      worth *= 2;
      many *= 4;
    }
    weight = timed < FIRST ? 1 : Math.min(LONGEST, Integer.highestOneBit(worth / atLeastOne(mean)));
    if (weight == 0) {
      weight = 1;
    }
    random = Xorshift.next(random);
    int before = (int) (random >>> 33) & weight - 1;
    wait = rest + before + 1;
    rest = weight - 1 - before;
  }

  private static int atLeastOne(double mean) {
    return (int) Math.max(1, Math.min(mean, Integer.MAX_VALUE));
  }
}
