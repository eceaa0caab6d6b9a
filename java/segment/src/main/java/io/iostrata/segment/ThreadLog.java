package io.iostrata.segment;

import java.util.function.LongSupplier;

/**
 * What one thread records; used by that thread only. Nothing here throws or blocks: after a fault
 * inside, the calls of the thread are only counted as lost.
 *
 * <p>Every enter needs its exit or drop, every hotEnter its hotExit, also when the point has been
 * switched off in between.
 */
public final class ThreadLog {
  private static final int ERROR = Schema.FLAG_ERROR | Schema.FLAG_ERRNO;

  /** Guard against re-entry: true while code of ours runs whose I/O must not be traced. */
  public boolean busy;

  final Thread thread;

  private final Recorder recorder;
  private final LongSupplier clock;
  private final Contexts contexts = new Contexts();

  // Made at the first call: a thread that only names things needs none of it.
  private PointLog[] points;
  private OpenSpans open;
  private HotCalls hot;
  private SegmentChain chain;

  /** Layers and flows of bytes with an open call, see {@link PointLog}. */
  private long layers;

  private boolean dead;

  ThreadLog(Recorder recorder, Thread thread) {
    this.recorder = recorder;
    this.thread = thread;
    clock = recorder.options.clock;
  }

  /** A log that only counts what it loses, for any thread. */
  static ThreadLog refused(Recorder recorder) {
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
        push(point, target, asked, offset);
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
        pop(target, bytes < 0 ? 0 : bytes, ret, flags);
      } else if (!dead) {
        recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** Point of the span on top, -1 if nothing is open. Hot calls are not spans. */
  public int openPoint() {
    return depth() == 0 ? -1 : open.top().point.id;
  }

  /** Open spans. */
  public int depth() {
    return chain == null ? 0 : open.depth;
  }

  /** Closes the span on top without recording it. */
  public void drop() {
    try {
      if (depth() > 0) {
        leave(open.top());
        open.depth--;
        if (chain.segment != null) {
          chain.segment.depth(open.depth);
        }
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** A hot call begins; true if it is timed: one of 1,024 of a point, the first always. */
  public boolean hotEnter(int point) {
    try {
      if (!active()) {
        return false;
      }
      PointLog log = point(point);
      boolean timed = hot.push(log, layers);
      layers |= log.layer | log.flow;
      if (timed) {
        log.timedDepth = hot.depth;
        log.timedStart = now();
      }
      return timed;
    } catch (Throwable e) {
      fail();
      return false;
    }
  }

  /** A hot call ends: it is added to its counter row and gets no slot. */
  public void hotExit(int point, long target, long bytes, long asked, boolean error) {
    try {
      if (chain == null) {
        return; // counted at its entry
      }
      int depth = hot.find(point);
      if (depth == 0 || depth < hot.depth) {
        recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
      }
      if (depth > 0) {
        popHot(depth, target, bytes < 0 ? 0 : bytes, asked < 0 ? 0 : asked, error);
      }
    } catch (Throwable e) {
      fail();
    }
  }

  /** A hot call ends as if it had not been. */
  public void hotDrop(int point) {
    try {
      int depth = chain == null ? 0 : hot.find(point);
      if (depth > 0) {
        layers = hot.cut(depth - 1);
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
        contexts.push(id, cause, now);
        boolean waited = cause != null && cause.since != 0;
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
    if (depth() > 0) {
      OpenSpan top = open.top();
      return new Cause(whose, trace, proc, top.span, now(), top.target);
    }
    return outer == null
        ? new Cause(whose, trace, proc, 0, now(), 0)
        : new Cause(whose, trace, outer.proc, outer.span, now(), outer.target);
  }

  /** Back to the context before. */
  public void popContext() {
    try {
      if (!dead && contexts.nested()) {
        contexts.pop(now());
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
    }
  }

  /** Forgets all that is large: the thread may live long, and this log with it. */
  void release() {
    dead = true;
    chain = null;
    points = null;
    open = null;
    hot = null;
  }

  private long now() {
    LongSupplier clock = this.clock;
    return clock == null ? System.nanoTime() : clock.getAsLong();
  }

  /** False when the call cannot even be put on the stack; it is then counted. */
  private boolean active() {
    SegmentChain chain = this.chain;
    if ((chain == null || chain.segment == null) && !begin()) {
      return false;
    }
    if (recorder.baseContext != contexts.base()) {
      contexts.base(recorder.baseContext, now());
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
        open = new OpenSpans();
        hot = new HotCalls();
        chain = new SegmentChain(recorder, this, open, contexts, points);
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

  private void tellContext(int point, long waited) {
    if (chain != null && chain.segment != null) {
      chain.context(point, waited);
    }
  }

  private PointLog point(int id) {
    PointLog point = points[id];
    if (point == null) {
      point = new PointLog(id, recorder.options);
      points[id] = point;
    }
    return point;
  }

  private void push(int id, long target, long asked, long offset) {
    PointLog point = point(id);
    OpenSpan top = open.next();
    OpenSpan below = top.below;
    Segment segment = chain.segment;
    long span = segment == null ? 0 : ++segment.span;
    if (top.point != point) {
      top.point = point; // a reference store has a price under G1
    }
    top.span = span;
    top.parent = below == null ? 0 : below.span;
    top.target = target == 0 ? enclosingTarget(below) : target;
    top.asked = asked < 0 ? 0 : asked;
    top.offset = offset;
    top.flags = point.flags(layers);
    top.context = contexts.current();
    top.anchor = below == null ? 0 : below.anchorInside;
    top.anchorInside = point.anchor ? span : top.anchor;
    top.layersBefore = layers;
    top.hotBefore = hot.depth;
    layers |= point.layer | point.flow;
    long start = now();
    top.start = start;
    int d = open.depth++;
    if (segment != null) {
      segment.open(d, span, start, top.parent, top.mirrored());
      if (point.begin) {
        chain.begun(top);
      }
    }
  }

  /** What the enclosing call acts on, or the one that this thread works for. */
  private long enclosingTarget(OpenSpan below) {
    if (below != null) {
      return below.target;
    }
    Cause cause = contexts.cause();
    return cause == null ? 0 : cause.target;
  }

  private void pop(long target, long bytes, int ret, int flags) {
    long end = now();
    OpenSpan top = open.top();
    leave(top);
    SegmentChain chain = this.chain;
    if (chain.segment == null) {
      open.depth--;
      recorder.count(Schema.PROCESS_COUNTER_LOST_CALLS, 1);
      return;
    }
    if (target != 0) {
      top.target = target;
    }
    top.flags |= flags;
    long dur = end - top.start;
    boolean error = (flags & ERROR) != 0;
    // The row first: after kill -9 the counts may be ahead of the slots, never behind.
    chain.add(top.point, key(top, bytes), top.anchor, bytes, top.asked, error, dur, end);
    chain.call(top, dur, bytes, ret);
    chain.segment.depth(--open.depth);
  }

  private static long key(OpenSpan top, long bytes) {
    return Row.key(top.point.id, top.flags, top.target, bytes, top.context);
  }

  /** Takes a span off the open layers, and hot calls inside it that never ended. */
  private void leave(OpenSpan top) {
    layers = top.layersBefore;
    if (hot.depth > top.hotBefore) {
      hot.cut(top.hotBefore);
    }
  }

  private void popHot(int depth, long target, long bytes, long asked, boolean error) {
    if (hot.depth > depth) {
      layers = hot.cut(depth);
    }
    PointLog point = hot.top();
    boolean timed = point.timedDepth == depth;
    long end = timed ? now() : 0;
    long dur = timed ? end - point.timedStart : Row.UNTIMED;
    layers = hot.cut(depth - 1);
    SegmentChain chain = this.chain;
    if (chain.segment == null) {
      recorder.count(Schema.PROCESS_COUNTER_LOST_CALLS, 1);
      return;
    }
    long anchor = 0;
    if (open.depth > 0) {
      OpenSpan top = open.top();
      anchor = top.anchorInside;
      target = target == 0 ? top.target : target;
    }
    long key = Row.key(point.id, point.flags(layers), target, bytes, contexts.current());
    chain.add(point, key, anchor, bytes, asked, error, dur, end);
  }

  /** A fault inside: nothing that is half done is touched again. */
  private void fail() {
    SegmentChain failed = chain;
    dead = true;
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
