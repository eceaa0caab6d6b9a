package io.iostrata.jobs.requests;

import java.util.SplittableRandom;

/**
 * Poisson arrivals whose rate is drawn anew for each interval, from a lognormal distribution: what
 * is published of AliCloud's arrivals by the minute (Ren et al., TPDS 2017), without the parameters
 * of the fit.
 */
final class LognormalRate implements Arrivals {
  private final double mean;
  private final double sigma;
  private final double interval;
  private final SplittableRandom random;
  private double rate;
  private double left;

  /** {@code mean} rate per second, {@code interval} in seconds. */
  LognormalRate(double mean, double sigma, double interval, SplittableRandom random) {
    this.mean = mean;
    this.sigma = sigma;
    this.interval = interval;
    this.random = random;
    begin();
  }

  private void begin() {
    rate = Distributions.lognormal(random, mean, sigma);
    left = interval;
  }

  @Override
  public double gap() {
    double waited = 0;
    while (true) {
      double gap = Distributions.exponential(random, 1 / rate);
      if (gap < left) {
        left -= gap;
        return waited + gap;
      }
      // Poisson has no memory: what is left of a gap is drawn again at the new rate
      waited += left;
      begin();
    }
  }
}
