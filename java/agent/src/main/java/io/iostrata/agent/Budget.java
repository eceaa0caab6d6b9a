package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * Which points are only summed so that tracing costs no more than allowed. Points that cost most go
 * first, so that few have to; they come back, the cheapest first, when there is room for them
 * again.
 *
 * <p>What was spent too much is saved over the windows that follow.
 */
final class Budget {
  /** Of one core, a share that counts as used even if it is not: idle processes may be traced. */
  private static final double LEAST_CPU = 0.1;

  /**
   * Windows over which an overdraft is saved, what of the allowance that may take at most, and how
   * many windows of it are remembered: when load falls, detail is to come back soon.
   */
  private static final int REPAID_IN = 10;

  private static final int REMEMBERED = 5;

  private static final double MOST_REPAID = 0.5;

  /** What is chosen fills this much of the target; what comes back leaves more room. */
  private static final double FILL = 0.9;

  private static final double REFILL = 0.7;

  /** Windows that a point stays summed at least; twice as many each time, up to the second. */
  private static final int HOLD = 3;

  private static final int LONGEST_HOLD = 60;

  /** A hook of a summed call against one of a kept call, while that was never seen. */
  private static final double SUMMED_SHARE = 0.4;

  /**
   * ns that a call costs more when it is kept, without the collector's, while that was not seen.
   */
  private static final int KEPT_NANOS = 300;

  private static final int KEPT = 0;
  private static final int SUMMED = 1;
  private static final long UNLIMITED = -1;
  private static final int POINTS = Schema.PROCESS_MAX_POINTS;

  /** What a window was like. */
  static final class Window {
    /** ns. */
    long wall;

    /** ns that the process took. */
    long cpu;

    /** ns that the agent's own thread took. */
    long thread;

    /** Slots written, and ns that one costs the collector. */
    long slots;

    int eventCost;

    /** Those that any hook ran of, ever. */
    int[] points = {};

    /** Hooks by point and ns that they took. */
    final long[] hooks = new long[POINTS];

    final long[] nanos = new long[POINTS];

    long hookNanos() {
      long sum = 0;
      for (int i : points) {
        sum += nanos[i];
      }
      return sum;
    }

    long spent() {
      return hookNanos() + thread + slots * eventCost;
    }
  }

  private final boolean[] summed = new boolean[POINTS];

  /** Hooks by mode and point, and ns that they took: each window halves what was before. */
  private final double[][] hooks = new double[2][POINTS];

  private final double[][] nanos = new double[2][POINTS];

  /** Windows until a summed point may come back, and what the last such time was. */
  private final int[] hold = new int[POINTS];

  private final int[] held = new int[POINTS];

  /** ns spent beyond what was allowed, and not saved since. */
  private double overdraft;

  private boolean over;
  private long allowed = UNLIMITED;

  /** Calls of a first second that may be kept, of those that may be only summed. */
  static long atFirst(int millionths, int eventCost) {
    double second = 1e9;
    return (long) (second * millionths / 1e6 / (KEPT_NANOS + eventCost));
  }

  /**
   * Of the calls that may be only summed, how many may be kept until the next choice: what is
   * chosen follows what was, and a process may begin to do something else at any time.
   */
  long allowed() {
    return allowed;
  }

  boolean summed(int point) {
    return summed[point];
  }

  /** The window cost more than allowed, and nothing is left that could be summed. */
  boolean over() {
    return over;
  }

  /**
   * Chooses for the next window.
   *
   * @param millionths of the CPU time that may be spent; 0: all
   */
  void choose(Window window, int millionths) {
    learn(window);
    over = false;
    if (millionths == 0) {
      overdraft = 0;
      allowed = UNLIMITED;
      for (int i : window.points) {
        summed[i] = false;
      }
      return;
    }
    // The agent's own thread costs the same whatever is chosen: in a process that does little, more
    // than is allowed.
    double whole = Math.max(window.cpu, LEAST_CPU * window.wall) * millionths / 1e6;
    double affordable = Math.max(whole - window.thread, whole / 2);
    double spent = window.spent() - window.thread;
    overdraft = Math.max(0, Math.min(overdraft + spent - affordable, REMEMBERED * affordable));
    double target = affordable - Math.min(overdraft / REPAID_IN, MOST_REPAID * affordable);
    allowed = (long) (target / (KEPT_NANOS + window.eventCost));
    double slotCost = slotCost(window);
    if (spent > target) {
      double left = sum(window, spent, FILL * target, slotCost);
      over = spent > affordable && left > target;
    } else {
      bringBack(window, spent, REFILL * target, slotCost);
    }
  }

  private void learn(Window window) {
    for (int i : window.points) {
      int mode = summed[i] ? SUMMED : KEPT;
      if (window.hooks[i] != 0) {
        hooks[mode][i] = hooks[mode][i] / 2 + window.hooks[i];
        nanos[mode][i] = nanos[mode][i] / 2 + window.nanos[i];
      }
      hold[i] = Math.max(0, hold[i] - 1);
    }
  }

  /** ns that the collector takes for a hook of a call that is kept. */
  private double slotCost(Window window) {
    long kept = 0;
    for (int i : window.points) {
      kept += summed[i] ? 0 : window.hooks[i];
    }
    return kept == 0 ? 0 : (double) window.slots * window.eventCost / kept;
  }

  /** ns more that the calls of the point cost in such a window when they are kept. */
  private double extra(int point, Window window, double slotCost) {
    double kept = unit(KEPT, point);
    double sum = hooks[SUMMED][point] > 0 ? unit(SUMMED, point) : kept * SUMMED_SHARE;
    return window.hooks[point] * (Math.max(0, kept - sum) + slotCost);
  }

  private double unit(int mode, int point) {
    return hooks[mode][point] > 0 ? nanos[mode][point] / hooks[mode][point] : 0;
  }

  /** Sums the points whose detail costs most; what is then left to spend. */
  private double sum(Window window, double spent, double target, double slotCost) {
    double left = spent;
    while (left > target) {
      int most = -1;
      double saved = 0;
      for (int i : window.points) {
        double extra = summed[i] || !Schema.summedUnderBudget(i) ? 0 : extra(i, window, slotCost);
        if (extra > saved) {
          most = i;
          saved = extra;
        }
      }
      if (most < 0) {
        break;
      }
      summed[most] = true;
      held[most] = Math.min(LONGEST_HOLD, Math.max(HOLD, held[most] * 2));
      hold[most] = held[most];
      left -= saved;
    }
    return left;
  }

  /** Keeps points again, the cheapest first, while there is room for them. */
  private void bringBack(Window window, double spent, double target, double slotCost) {
    double left = spent;
    while (true) {
      int least = -1;
      double extra = 0;
      for (int i : window.points) {
        if (summed[i] && hold[i] == 0) {
          double its = extra(i, window, slotCost);
          if (least < 0 || its < extra) {
            least = i;
            extra = its;
          }
        }
      }
      if (least < 0 || left + extra > target) {
        return;
      }
      summed[least] = false;
      left += extra;
    }
  }
}
