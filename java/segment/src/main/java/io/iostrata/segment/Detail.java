package io.iostrata.segment;

/**
 * Which calls are recorded individually. All others are still in the sums, their clocks sampled.
 * Changed by the agent's own thread while the others read.
 */
public final class Detail {
  /** Of this many requests, {@link #sampling} are in the sample. */
  public static final int ALL_REQUESTS = Schema.CONTROL_ALL_REQUESTS;

  private static final long[] KEPT = {
    0, Schema.KEPT_RECORD, Schema.KEPT_THREAD, Schema.KEPT_PHASE, Schema.KEPT_TASK, Schema.KEPT_JOB
  };

  /** Bitmap of categories, by the level. */
  private volatile long categories = Schema.KEPT_RECORD;

  private volatile int sampling = ALL_REQUESTS;

  /** Bitmap of categories whose reads and writes are only summed, without waiting for a cost. */
  private volatile long withoutDetail;

  /** By point. Plain: a thread may see a change some calls late. */
  private final boolean[] summed = new boolean[Schema.PROCESS_MAX_POINTS];

  /** A code of {@code level}; what is none of them keeps all. */
  public void level(int level) {
    boolean known = level >= Schema.LEVEL_RECORD && level <= Schema.LEVEL_JOB;
    categories = KEPT[known ? level : Schema.LEVEL_RECORD];
  }

  /** Requests of {@link #ALL_REQUESTS} that are kept, with all that is done for them. */
  public void sampling(int requests) {
    sampling = requests <= 0 ? ALL_REQUESTS : Math.min(requests, ALL_REQUESTS);
  }

  /** There is a budget, or there is none. */
  public void budgeted(boolean is) {
    withoutDetail = is ? Schema.NEVER_DETAIL_UNDER_BUDGET : 0;
  }

  /** The calls of a point are only summed from now on, or no longer. */
  public void summed(int point, boolean only) {
    summed[point] = only;
  }

  boolean keeps(PointLog point, long target) {
    long kept = point.summedUnderBudget ? categories & ~withoutDetail : categories;
    return point.scope || !summed[point.id] && (kept >>> (target >>> 32 & 63) & 1) != 0;
  }

  /** Whether a request that begins now is in the sample, as {@link OpenSpan#sampling} says it. */
  int draw(ThreadLog log) {
    int wanted = sampling;
    boolean in = wanted == ALL_REQUESTS || (log.next64() >>> 1) % ALL_REQUESTS < wanted;
    return in ? wanted : -wanted;
  }
}
