package io.iostrata.segment;

/** Why a call happens: the span, in another thread or process, that it is done for. */
public final class Cause {
  /** Dictionary id of whom it belongs to; 0 none. */
  public final int context;

  /** The {@code proc} of the process where it all began. */
  public final long trace;

  public final long proc;

  /** 0: none was open, the process as a whole is the cause. */
  public final long span;

  /** When this process handed it over, CLOCK_MONOTONIC ns; 0: another process did. */
  public final long since;

  /** False: the request it belongs to is not in the sample, nor is what is done for it. */
  public final boolean sampled;

  /** Handle of what it acts on, for calls that say nothing else; 0 none. */
  final long target;

  /**
   * A cause in another process.
   *
   * @param carried as {@link #carried} said there
   */
  public Cause(int context, long trace, long proc, long carried, long since) {
    this(context, trace, proc, carried & Long.MAX_VALUE, since, 0, carried >= 0);
  }

  Cause(int context, long trace, long proc, long span, long since, long target, boolean sampled) {
    this.context = context;
    this.trace = trace;
    this.proc = proc;
    this.span = span;
    this.since = since;
    this.target = target;
    this.sampled = sampled;
  }

  /** The span and whether it is sampled, in one word: spans have 63 bits. */
  public long carried() {
    return sampled ? span : span | Long.MIN_VALUE;
  }

  /** The same work, not handed over by anybody here. */
  public Cause taken() {
    return new Cause(context, trace, proc, span, 0, 0, sampled);
  }
}
