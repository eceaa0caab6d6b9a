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

  /** Handle of what it acts on, for calls that say nothing else; 0 none. */
  final long target;

  /** A cause in another process. */
  public Cause(int context, long trace, long proc, long span, long since) {
    this(context, trace, proc, span, since, 0);
  }

  Cause(int context, long trace, long proc, long span, long since, long target) {
    this.context = context;
    this.trace = trace;
    this.proc = proc;
    this.span = span;
    this.since = since;
    this.target = target;
  }
}
