package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.SplittableRandom;

/** When sessions begin. Which is which stands in {@link #of}. */
interface Arrivals {
  /** Seconds from the last arrival to the next; the first is that long after the beginning. */
  double gap();

  /** The process that was asked for; {@code rate} is in sessions per second. */
  static Arrivals of(Settings settings, double rate, long seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    switch (settings.arrivals) {
      case "constant":
        return () -> 1 / rate;
      case "poisson":
        return () -> Distributions.exponential(random, 1 / rate);
      case "lognormal":
        return new LognormalRate(rate, settings.sigma, settings.interval, random);
      case "hyperexponential":
        return new Hyperexponential(rate, settings.phases, random);
      case "recorded":
        return new RecordedGaps(RecordedGaps.read(settings.gaps), rate);
      default:
        throw new IllegalArgumentException("no arrivals " + settings.arrivals);
    }
  }
}
