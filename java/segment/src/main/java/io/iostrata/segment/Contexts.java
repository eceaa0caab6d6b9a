package io.iostrata.segment;

import java.util.Arrays;

/** The open contexts of a thread: the process's at the bottom, what was pushed above it. */
final class Contexts {
  private int[] ids = new int[4];

  // Since when each is or was on top: what a reader needs to place a call that began before a gap.
  private long[] since = new long[4];

  /** Null where the calls have no other cause than their own thread. */
  private Cause[] causes = new Cause[4];

  /**
   * What was reported to a reader about the requests that begin there: {@link Cause#sampling},
   * unsigned.
   */
  private int[] samplings = {Detail.ALL_REQUESTS, 0, 0, 0};

  /** A reader knows of samplings: it needs a report when all requests are kept again. */
  private boolean reported;

  private int top;

  int current() {
    return ids[top];
  }

  int base() {
    return ids[0];
  }

  Cause cause() {
    return causes[top];
  }

  boolean nested() {
    return top > 0;
  }

  /** Levels worth telling a reader about: none when nothing was ever set. */
  int open() {
    return top == 0 && ids[0] == 0 && since[0] == 0 && !reported ? 0 : top + 1;
  }

  int id(int level) {
    return ids[level];
  }

  long since(int level) {
    return since[level];
  }

  Cause cause(int level) {
    return causes[level];
  }

  int sampling(int level) {
    return samplings[level];
  }

  /** True when that is new. */
  boolean tells(int sampling) {
    boolean differs = samplings[top] != sampling;
    samplings[top] = sampling;
    reported |= differs;
    return differs;
  }

  void base(int id, long now) {
    ids[0] = id;
    since[0] = now;
  }

  /**
   * A context without a cause of its own keeps that of the one it is in.
   *
   * @param request {@link OpenSpan#sampling} of the call that is open; 0: none is
   */
  void push(int id, Cause cause, int request, long now) {
    if (++top == ids.length) {
      ids = Arrays.copyOf(ids, top * 2);
      since = Arrays.copyOf(since, top * 2);
      causes = Arrays.copyOf(causes, top * 2);
      samplings = Arrays.copyOf(samplings, top * 2);
    }
    ids[top] = id;
    since[top] = now;
    causes[top] = cause == null ? causes[top - 1] : cause;
    int drawn = request != 0 || cause == null ? request : cause.sampling;
    boolean same = drawn == 0 && cause == null;
    int none = same ? samplings[top - 1] : Detail.ALL_REQUESTS;
    samplings[top] = drawn == 0 ? none : Math.abs(drawn);
  }

  void pop(long now) {
    causes[top] = null;
    since[--top] = now;
  }
}
