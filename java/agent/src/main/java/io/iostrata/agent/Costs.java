package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What hooks take, by point, as {@link OverheadSampler} finds it. Sums of the whole process since
 * it started.
 */
final class Costs {
  private static final AtomicLongArray HOOKS = new AtomicLongArray(Schema.PROCESS_MAX_POINTS);
  private static final AtomicLongArray NANOS = new AtomicLongArray(Schema.PROCESS_MAX_POINTS);

  /**
   * Points that have been met: no process meets all, and the thread that goes through them is never
   * compiled.
   */
  private static volatile int[] met = {};

  private Costs() {}

  /** So many hooks have run, and took so long in all. */
  static void add(int point, int hooks, long nanos) {
    if (HOOKS.getAndAdd(point, hooks) == 0) {
      meet(point);
    }
    NANOS.addAndGet(point, nanos);
  }

  private static synchronized void meet(int point) {
    int[] more = Arrays.copyOf(met, met.length + 1);
    more[met.length] = point;
    met = more;
  }

  /** Points that have been met so far; not to be written to. */
  static int[] points() {
    return met;
  }

  /** Hooks of the point that have run, within a few hundred a thread. */
  static long hooks(int point) {
    return HOOKS.get(point);
  }

  /** ns that they took. */
  static long nanos(int point) {
    return NANOS.get(point);
  }
}
