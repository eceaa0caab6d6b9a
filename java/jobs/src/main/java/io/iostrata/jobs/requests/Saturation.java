package io.iostrata.jobs.requests;

import java.io.IOException;

/** The highest rate that a cluster keeps up with. */
final class Saturation {
  private static final int TRIALS = 20;

  /** The highest rate that held and the lowest that did not are to be that close. */
  private static final double CLOSE = 1.1;

  private Saturation() {}

  /** Whether it keeps up with a rate; each asks for a trial. */
  interface Attempt {
    boolean holds(double rate) throws IOException, InterruptedException;
  }

  /**
   * Doubles the rate until it does not hold, or halves it until it does, then goes between both.
   * Returns the highest that held, 0 if none did.
   */
  static double find(double first, double most, Attempt attempt)
      throws IOException, InterruptedException {
    double held = 0;
    double failed = Double.POSITIVE_INFINITY;
    double rate = Math.min(first, most);
    for (int i = 0; i < TRIALS && held < most && failed > held * CLOSE; i++) {
      if (attempt.holds(rate)) {
        held = rate;
      } else {
        failed = rate;
      }
      if (failed == Double.POSITIVE_INFINITY) {
        rate = Math.min(most, rate * 2);
      } else {
        rate = held == 0 ? rate / 2 : Math.sqrt(held * failed);
      }
    }
    return held;
  }
}
