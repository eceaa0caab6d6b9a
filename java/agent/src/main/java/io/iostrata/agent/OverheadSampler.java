package io.iostrata.agent;

import io.iostrata.segment.Xorshift;

/** Picks the hooks of a thread that are timed, for {@link Costs}. Used by that thread only. */
final class OverheadSampler {
  // Hooks from one that is timed to the next, a power of two on average: short ones are many, and
  // two clocks are worth several of them.
  private static final int OFTEN = 128;
  private static final int RARELY = 1024;
  private static final int SHORT_NANOS = 100;

  /**
   * Between two that are timed, in ns: where hooks are seldom, each is timed, and stands for itself
   * alone. It found nothing in the caches, while those before it may have come in rows; and one
   * that took long by chance would stand for seconds.
   */
  private static final long SELDOM = 5_000_000;

  /**
   * A longer hook was interrupted, or did what is done once (a file, a name): as the one that
   * stands for many it would say that all of them did.
   */
  private static final long LONGEST_NANOS = 50_000;

  /**
   * What clocks cannot see of a hook, in ns: the way to it and to its thread's state, which a
   * system call leaves cold, and what woven code costs the method around it. From outside, see
   * bench/budget.
   */
  static final int UNSEEN = 45;

  /** The same of a hook of a call that is only summed: they come in rows, all is at hand. */
  static final int UNSEEN_COUNTED = 18;

  /** The same of a hook that stands for both ends of a call: the other is not timed at all. */
  static final int UNSEEN_COUNT = 2 * UNSEEN_COUNTED;

  /** Hooks until the next that is timed; counted down by {@link Hooks}, which pays for no call. */
  int left = 1;

  /** Hooks that the next one stands for. */
  private int stands = 1;

  /** When the hook that is being timed began; 0: none is. */
  long since;

  /** Hooks from one that is timed to the next, on average: a power of two. */
  private int mean = 1;

  /** ns of hooks that came soon after others, of late. */
  private long usual;

  private long before = System.nanoTime();
  private long random = before | 1;

  /** The hook that begins is timed. */
  void begin() {
    since = System.nanoTime();
  }

  /** It ends; {@code unseen}: {@link #UNSEEN} or {@link #UNSEEN_COUNTED}. */
  void end(int point, int unseen) {
    long nanos = System.nanoTime() - since - Hooks.clockCost;
    boolean seldom = since - before > SELDOM;
    before = since;
    since = 0;
    long cost = Math.min(Math.max(0, nanos) + unseen, LONGEST_NANOS);
    Costs.add(point, stands, cost + (stands - 1) * (seldom ? usual : cost));
    usual = seldom ? usual : usual + (cost - usual) / 8;
    mean = seldom ? 1 : Math.min(mean * 2, nanos < SHORT_NANOS ? RARELY : OFTEN);
    // At random: entries and exits take turns, and loops have their own rhythm.
    random = Xorshift.next(random);
    stands = mean == 1 ? 1 : mean / 2 + (int) (random & mean - 1);
    left = stands;
  }
}
