package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What hooks take, by point: one hook of many is timed where it runs and stands for all since the
 * last one. Sums of the whole process since it started.
 */
final class Costs {
  /**
   * A longer hook was interrupted, or did what is done once (a file, a name): as the one that
   * stands for many it would say that all of them did.
   */
  private static final long LONGEST_NANOS = 50_000;

  private static final AtomicLongArray HOOKS = new AtomicLongArray(Schema.PROCESS_MAX_POINTS);
  private static final AtomicLongArray NANOS = new AtomicLongArray(Schema.PROCESS_MAX_POINTS);

  private Costs() {}

  /** A hook took so long, and stands for so many. */
  static void add(int point, int hooks, long nanos) {
    HOOKS.addAndGet(point, hooks);
    NANOS.addAndGet(point, hooks * Math.max(0, Math.min(nanos, LONGEST_NANOS)));
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
