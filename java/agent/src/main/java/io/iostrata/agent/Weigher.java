package io.iostrata.agent;

import io.iostrata.segment.Xorshift;

/** Picks the hooks of a thread that are timed, for {@link Costs}. Used by that thread only. */
final class Weigher {
  // Hooks from one that is timed to the next, a power of two on average: short ones are many, and
  // two clocks are worth several of them.
  private static final int OFTEN = 64;
  private static final int RARELY = 256;
  private static final int SHORT_NANOS = 100;

  /** Hooks until the next that is timed. */
  private int left = 1;

  /** Hooks that the next one stands for. */
  private int stands = 1;

  /** When the hook that is being timed began; 0: none is. */
  private long since;

  private long random = System.nanoTime() | 1;

  /** A hook begins. */
  void begin() {
    if (--left <= 0) {
      since = System.nanoTime();
    }
  }

  /** It ends. */
  void end(int point) {
    if (since != 0) {
      timed(point);
    }
  }

  private void timed(int point) {
    long nanos = System.nanoTime() - since - Hooks.clockCost;
    since = 0;
    Costs.add(point, stands, nanos);
    int mean = nanos < SHORT_NANOS ? RARELY : OFTEN;
    // At random: entries and exits take turns, and loops have their own rhythm.
    random = Xorshift.next(random);
    stands = mean / 2 + (int) (random & mean - 1);
    left = stands;
  }
}
