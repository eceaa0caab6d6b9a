package io.iostrata.jobs.requests;

import java.util.SplittableRandom;

/** Gaps of two phases, each exponential: burstier than Poisson. */
final class Hyperexponential implements Arrivals {
  private final double share;
  private final double first;
  private final double second;
  private final SplittableRandom random;

  /**
   * {@code phases}: the share of the first, then the mean gap of each, of which only the ratio
   * counts: both are scaled so that the rate is the one asked for.
   */
  Hyperexponential(double rate, double[] phases, SplittableRandom random) {
    share = phases[0];
    double mean = share * phases[1] + (1 - share) * phases[2];
    first = phases[1] / mean / rate;
    second = phases[2] / mean / rate;
    this.random = random;
  }

  @Override
  public double gap() {
    return Distributions.exponential(random, random.nextDouble() < share ? first : second);
  }
}
