package io.iostrata.jobs.requests;

import java.util.SplittableRandom;

/** Sizes in bytes: all the same, or lognormal around a mean and cut off at ten times of it. */
final class Sizes {
  private static final int MOST = 10;
  private final int mean;
  private final double spread;

  Sizes(int mean, double spread) {
    this.mean = mean;
    this.spread = spread;
  }

  int draw(SplittableRandom random) {
    if (spread == 0 || mean == 0) {
      return mean;
    }
    double size = Distributions.lognormal(random, mean, spread);
    return (int) Math.min(Math.min(size, Integer.MAX_VALUE), (double) MOST * mean);
  }
}
