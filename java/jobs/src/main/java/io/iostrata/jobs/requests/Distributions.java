package io.iostrata.jobs.requests;

import java.util.SplittableRandom;

/** Random numbers of some distributions; the same on every JVM for the same seed. */
final class Distributions {
  private Distributions() {}

  static double exponential(SplittableRandom random, double mean) {
    return -mean * Math.log(1 - random.nextDouble());
  }

  /** 1, 2, …: how many there are when each is followed by another with the same probability. */
  static long geometric(SplittableRandom random, double mean) {
    if (mean <= 1) {
      return 1;
    }
    return 1 + (long) (Math.log(1 - random.nextDouble()) / Math.log(1 - 1 / mean));
  }

  /** With this mean; {@code sigma} is the standard deviation of its logarithm, 0 for a constant. */
  static double lognormal(SplittableRandom random, double mean, double sigma) {
    double radius = Math.sqrt(exponential(random, 2));
    double normal = radius * Math.cos(2 * Math.PI * random.nextDouble());
    return mean * Math.exp(sigma * normal - sigma * sigma / 2);
  }

  /** A stream of its own for each of many things with numbers, of one seed. */
  static SplittableRandom of(long seed, long number) {
    return new SplittableRandom(new SplittableRandom(seed).nextLong() + number);
  }
}
