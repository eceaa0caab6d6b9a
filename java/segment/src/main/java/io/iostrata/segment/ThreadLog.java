package io.iostrata.segment;

import java.util.function.LongSupplier;

/**
 * What one thread records; used by that thread only. Nothing here throws or blocks: after a fault
 * inside, the calls of the thread are only counted as lost.
 *
 * <p>Every enter needs its exit or drop, every enterCounted its exitCounted or dropCounted, also
 * when the point has been switched off in between.
 */
public final class ThreadLog {
  /** Bytes of a counted-only call at its end that say: those given at its begin. */
  public static final long AS_ENTERED = Long.MIN_VALUE;

  static final long NOWHERE = 0;

  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** Guard against re-entry: true while code of ours runs whose I/O must not be traced. */
  public boolean busy;

  final Thread thread;

  /** ns that a clock adds to what it measures. */
  final long clockCost;

  private final Recorder recorder;
  private final LongSupplier clock;
  private final Contexts contexts = new Contexts();

  // Made at the first call: a thread that only names things needs none of it.
  private PointLog[] points;
  private OpenSpans open;
  private CountedOnlyCalls counted;
  private SegmentChain chain;

  /** Layers and directions of bytes with an open call, see {@link PointLog}. */
  long layers;

  /**
   * A number for all that calls have in common until a span begins or ends: that span, its context,
   * the segment. {@link #NOWHERE}: no span is open, or there is no segment.
   */
  long contextEpoch = NOWHERE;

  private long contextEpochs;

  /** State of {@link Xorshift}. */
  private long random;

  private boolean dead;

  ThreadLog(Recorder recorder, Thread thread) {
    this.recorder = recorder;
    this.thread = thread;
    clock = recorder.options.clock;
    clockCost = recorder.clockCost;
    random = mixed(recorder.options.seed + (thread == null ? 0 : thread.getId()) * GOLDEN) | 1;
  }

  /** A log that only counts what it loses, for any thread. */
  static ThreadLog rejecting(Recorder recorder) {
    ThreadLog log = new ThreadLog(recorder, null);
    log.dead = true;
    return log;
  }

  /**
   * A call begins.
   *
   * @param target handle of {@link Recorder#name}; 0: that of the enclosing open span
   * @param asked bytes asked for, 0 none
   * @param offset -1 none
   */
  public void enter(int point, long target, long asked, long offset) {
    try {
      if (active()) {
        open.enter(point(point), target, asked, offset);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** {@link #exit(long, long, int, int)} with the target given at entry. */
  public void exit(long bytes, int ret, int flags) {
    exit(0, bytes, ret, flags);
  }

  /**
   * The call on top ends.
   *
   * @param target handle; 0: the one given at entry
   * @param bytes below 0 counts as 0
   * @param ret errno, or dictionary id of an exception, as flags say
   * @param flags {@code error} or {@code errno}
   */
  public void exit(long target, long bytes, int ret, int flags) {
    try {
      if (depth() > 0) {
        open.exit(target, bytes < 0 ? 0 : bytes, ret, flags);
      } else if (!dead) {
        recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** Point of the span on top, -1 if nothing is open. Counted-only calls are not spans. */
  public int openPoint() {
    return depth() == 0 ? -1 : open.top().point.id;
  }

  /** Slots written so far; any thread may ask. */
  long slots() {
    SegmentChain chain = this.chain;
    return chain == null ? 0 : chain.slots;
  }

  /** Open spans. */
  public int depth() {
    return chain == null ? 0 : open.depth;
  }

  /** Closes the span on top without recording it. */
  public void drop() {
    try {
      if (depth() > 0) {
        open.drop();
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /**
   * A counted-only call begins. Its clocks are sampled.
   *
   * @param target handle; 0: that of the enclosing open span
   * @param object that the target was found by: while it is the same, so is the target; null: the
   *     point's calls have no target of their own
   * @param bytes what {@link #AS_ENTERED} will mean
   */
  public void enterCounted(int point, long target, Object object, long asked, long bytes) {
    try {
      if (active()) {
        counted.enter(point(point), target, object, asked, bytes);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /**
   * {@link #enterCounted} if that is only a matter of what is at hand.
   *
   * @return false when nothing has been done
   */
  public boolean enterCountedQuickly(int point, Object object, long asked, long bytes) {
    try {
      if (contextEpoch == NOWHERE || recorder.baseContext != contexts.base()) {
        return false;
      }
      PointLog whose = points[point];
      return whose != null && counted.enterQuickly(whose, object, asked, bytes);
    } catch (Throwable e) {
      fail();
      return true;
    }
  }

  /** {@link #exitCounted} of a call without error, if that is only a matter of what is at hand. */
  public boolean exitCountedQuickly(int point, long moved) {
    try {
      return contextEpoch != NOWHERE && counted.exitQuickly(chain, point, moved);
    } catch (Throwable e) {
      fail();
      return true;
    }
  }

  /**
   * A counted-only call ends: it is added to its counter row and gets no slot.
   *
   * @param moved {@link #AS_ENTERED}, or what to add to the bytes given at entry
   * @return false when none of the point is open
   */
  public boolean exitCounted(int point, long moved, boolean error) {
    try {
      if (chain == null) {
        return true; // counted at its entry
      }
      OpenSpan top = depth() == 0 ? null : open.top();
      int floor = top == null ? 0 : top.countedBefore;
      if (!counted.isTop(point, floor) && !counted.unwind(point, floor)) {
        return false;
      }
      counted.exit(chain, top, moved, error, contexts.current());
    } catch (Throwable e) {
      fail();
    }
    return true;
  }

  /** A counted-only call ends as if it had not been; false when none of the point is open. */
  public boolean dropCounted(int point) {
    try {
      if (chain == null) {
        return true;
      }
      int floor = depth() == 0 ? 0 : open.top().countedBefore;
      if (!counted.unwind(point, floor)) {
        return false;
      }
      counted.cut(counted.depth - 1);
    } catch (Throwable e) {
      fail();
    }
    return true;
  }

  /** A recording begins: of those before no call is open, see {@link #drop}. */
  public void recordingBegins() {
    try {
      if (chain != null) {
        counted.cut(0);
        if (chain.segment != null && depth() == 0) {
          chain.renew();
        }
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** From here on in this thread: the context {@code id} of {@link Recorder#context}. */
  public void pushContext(int id) {
    pushContext(0, id, null);
  }

  /**
   * From here on in this thread.
   *
   * @param point of the call that enters next, 0 none
   * @param id of {@link Recorder#context}, 0: nobody's
   * @param cause null: as before
   */
  public void pushContext(int point, int id, Cause cause) {
    try {
      if (!dead) {
        long now = now();
        contexts.push(id, cause, depth() == 0 ? 0 : open.top().sampling, now);
        contextChanged();
        boolean waited = cause != null && cause.since != 0 && cause.sampling >= 0;
        tellContext(point, waited ? Math.max(0, now - cause.since) : 0);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** What other threads and processes do for this one now is caused by. Never null. */
  public Cause cause() {
    long proc = recorder.options.proc;
    Cause outer = contexts.cause();
    long trace = outer == null ? proc : outer.trace;
    int whose = contexts.current();
    OpenSpan top = depth() == 0 ? null : open.top();
    int sampling = top != null ? top.sampling : outer == null ? 0 : outer.sampling;
    long target = top != null ? top.target : outer == null ? 0 : outer.target;
    if (top != null && top.span != 0) {
      return new Cause(whose, trace, proc, top.span, now(), target, sampling);
    }
    // Nothing that is open is recorded individually.
    return outer == null
        ? new Cause(whose, trace, proc, 0, now(), target, sampling)
        : new Cause(whose, trace, outer.proc, outer.span, now(), target, sampling);
  }

  /** Back to the context before. */
  public void popContext() {
    try {
      if (!dead && contexts.nested()) {
        contexts.pop(now());
        contextChanged();
        tellContext(0, 0);
      } else if (!dead) {
        recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** Seals the segment of a thread that has ended. */
  void end() {
    if (chain != null) {
      chain.seal();
    }
  }

  /**
   * The process ends, this thread with it. What is open stays so, in a segment that is not sealed:
   * it will be unfinished, as after a kill. A task is killed by SIGTERM first.
   */
  void endWithProcess() {
    if (depth() == 0) {
      end();
    } else if (thread.getState() != Thread.State.RUNNABLE) {
      chain.store(); // one that called System.exit waits for us
    }
  }

  /** Forgets all that is large: the thread may live long, and this log with it. */
  void release() {
    dead = true;
    contextEpoch = NOWHERE;
    chain = null;
    points = null;
    open = null;
    counted = null;
  }

  long now() {
    LongSupplier clock = this.clock;
    return clock == null ? System.nanoTime() : clock.getAsLong();
  }

  void lost() {
    recorder.count(Schema.PROCESS_COUNTER_LOST_CALLS, 1);
  }

  /** SplitMix64: threads have numbers in a row, and their first draws shall not be alike. */
  private static long mixed(long seed) {
    long z = (seed ^ seed >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  long newContextEpoch() {
    return ++contextEpochs;
  }

  private void contextChanged() {
    if (chain != null) {
      open.changed();
    }
  }

  long next64() {
    random = Xorshift.next(random);
    return random;
  }

  /** False when the call cannot even be put on the stack; it is then counted. */
  private boolean active() {
    SegmentChain chain = this.chain;
    if ((chain == null || chain.segment == null) && !begin()) {
      return false;
    }
    if (recorder.baseContext != contexts.base()) {
      contexts.base(recorder.baseContext, now());
      contextChanged();
      if (!contexts.nested()) {
        tellContext(0, 0);
      }
    }
    return true;
  }

  /** Asks for a segment. Without one calls are stacked all the same: one may come later. */
  private boolean begin() {
    if (dead) {
      recorder.count(Schema.PROCESS_COUNTER_LOST_CALLS, 1);
      return false;
    }
    boolean was = busy;
    busy = true; // making a file is I/O that may itself be traced
    try {
      if (chain == null) {
        points = new PointLog[recorder.options.layerOfPoint.length];
        counted = new CountedOnlyCalls(this);
        open = new OpenSpans(this, counted, contexts, recorder.detail);
        chain = new SegmentChain(recorder, this, open, contexts, points);
        open.chain = chain;
      }
      int base = recorder.baseContext;
      if (base != contexts.base()) {
        contexts.base(base, now());
      }
      chain.begin();
    } finally {
      busy = was;
    }
    return true;
  }

  /** The segment, if there is one, says whose and why the calls are that come next. */
  void tellContext(int point, long waited) {
    if (chain != null && chain.segment != null) {
      chain.context(point, waited);
    }
  }

  private PointLog point(int id) {
    PointLog point = points[id];
    if (point == null) {
      point = new PointLog(id, recorder.options, next64());
      points[id] = point;
    }
    return point;
  }

  /** A fault inside: nothing that is half done is touched again. */
  private void fail() {
    SegmentChain failed = chain;
    dead = true;
    contextEpoch = NOWHERE;
    chain = null;
    try {
      recorder.count(Schema.PROCESS_COUNTER_FAULTS, 1);
      if (failed != null && failed.segment != null) {
        failed.segment.depth(0);
        failed.seal();
      }
    } catch (Throwable again) {
      // out of memory or stack: the flags above are what counts
    }
  }
}
