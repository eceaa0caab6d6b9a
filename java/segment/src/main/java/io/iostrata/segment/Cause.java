package io.iostrata.segment;

/** Why a call happens: the span, in another thread or process, that it is done for. */
public final class Cause {
  /** Of {@link #words}. */
  static final int WORDS = 7;

  /** Dictionary id of whom it belongs to; 0 none. */
  public final int context;

  /** The {@code proc} of the process where it all began. */
  public final long trace;

  public final long proc;

  /** 0: none was open, the process as a whole is the cause. */
  public final long span;

  /** When this process handed it over, CLOCK_MONOTONIC ns; 0: another process did. */
  public final long since;

  /**
   * Of a billion requests, how many were in the sample when the request began that it belongs to:
   * above 0, and what is done for it is in the sample, or below 0, and it is not. 0: it belongs to
   * none, what is done for it begins requests.
   */
  public final int sampling;

  /** Handle of what it acts on, for calls that say nothing else; 0 none. */
  final long target;

  /** A cause in another process. */
  public Cause(int context, long trace, long proc, long span, long since, int sampling) {
    this(context, trace, proc, span, since, 0, sampling);
  }

  private Cause(
      int context, long trace, long proc, long span, long since, long target, int sampling) {
    this.context = context;
    this.trace = trace;
    this.proc = proc;
    this.span = span;
    this.since = since;
    this.target = target;
    this.sampling = sampling;
  }

  Cause(long[] words) {
    this((int) words[0], words[1], words[2], words[3], words[4], words[5], (int) words[6]);
  }

  /** As the native writer has it: context, trace, proc, span, since, target, sampling. */
  long[] words() {
    return new long[] {context, trace, proc, span, since, target, sampling};
  }

  /** No call is known, and what is done for it need not do as one did. */
  public boolean saysNothing() {
    return span == 0 && (sampling == 0 || sampling == Schema.CONTROL_ALL_REQUESTS);
  }

  /** The same work, not handed over by anybody here. */
  public Cause taken() {
    return new Cause(context, trace, proc, span, 0, 0, sampling);
  }
}
