package io.iostrata.segment;

import java.util.Arrays;

/**
 * The open spans of a thread, one inside the other; the header of its segment mirrors those that
 * are recorded individually. Faults are for {@link ThreadLog} to catch.
 */
final class OpenSpans {
  private static final long TASK = 1L << Schema.LAYER_TASK;
  private static final int ERROR = Schema.FLAG_ERROR | Schema.FLAG_ERRNO;

  int depth;

  /** Those of them that are recorded individually, as the segment's header mirrors them. */
  int kept;

  private final ThreadLog log;
  private final CountedOnlyCalls counted;
  private final Contexts contexts;
  private final Detail detail;

  /** Where spans go that end; set before the first begins. */
  SegmentChain chain;

  private OpenSpan[] levels = {new OpenSpan(null)};

  OpenSpans(ThreadLog log, CountedOnlyCalls counted, Contexts contexts, Detail detail) {
    this.log = log;
    this.counted = counted;
    this.contexts = contexts;
    this.detail = detail;
  }

  /** The level above the top, to be filled; `depth` says when it counts. */
  private OpenSpan next() {
    return depth < levels.length ? levels[depth] : grow();
  }

  /** The innermost open span; there must be one. */
  OpenSpan top() {
    return levels[depth - 1];
  }

  private OpenSpan grow() {
    int from = levels.length;
    OpenSpan[] more = Arrays.copyOf(levels, from * 2);
    for (int d = from; d < more.length; d++) {
      more[d] = new OpenSpan(more[d - 1]);
    }
    levels = more;
    return more[from];
  }

  /** See {@link ThreadLog#enter}. */
  @DontInline
  void enter(PointLog point, long target, long asked, long offset) {
    OpenSpan top = next();
    OpenSpan below = top.below;
    if (top.point != point) {
      top.point = point; // a reference store has a price under G1
    }
    top.target = target == 0 ? enclosingTarget(below) : target;
    top.asked = asked < 0 ? 0 : asked;
    top.offset = offset;
    top.flags = point.flags(log.layers);
    top.context = contexts.current();
    top.scope = below == null ? 0 : below.scopeInside;
    top.layersBefore = log.layers;
    top.countedBefore = counted.depth;
    top.kept = sample(top) || top.sampling >= 0 && detail.keeps(point, top.target);
    log.layers |= point.open;
    top.contextEpoch = chain.segment == null ? ThreadLog.NOWHERE : log.newContextEpoch();
    log.contextEpoch = top.contextEpoch;
    if (top.kept) {
      keep(top);
    } else {
      sum(top);
    }
  }

  /**
   * Says whether the request that a call belongs to is in the sample: that of the call around it or
   * of its cause; else it begins one.
   *
   * @return true when it begins one that was drawn: that call is kept whatever the level, so that
   *     all that is kept of a request hangs together
   */
  private boolean sample(OpenSpan call) {
    if (call.point.layer == TASK) {
      call.sampling = 0;
      return false;
    }
    Cause cause = call.below == null ? contexts.cause() : null;
    call.sampling = call.below != null ? call.below.sampling : cause == null ? 0 : cause.sampling;
    if (call.sampling != 0) {
      return false;
    }
    int drawn = detail.draw(log);
    call.sampling = drawn;
    if (drawn > 0 && contexts.tells(drawn)) {
      log.tellContext(0, 0);
    }
    return drawn > 0 && drawn != Detail.ALL_REQUESTS;
  }

  @DontInline
  private void keep(OpenSpan top) {
    PointLog point = top.point;
    Segment segment = chain.segment;
    long span = segment == null ? 0 : ++segment.span;
    top.span = span;
    top.parent = top.below == null ? 0 : top.below.span;
    top.scopeInside = point.scope ? span : top.scope;
    long start = log.now();
    top.start = start;
    depth++;
    int mirrored = kept++;
    if (segment != null) {
      segment.open(mirrored, span, start, top.parent, top.mirrored());
      if (point.begin) {
        chain.begun(top);
      }
    }
  }

  private void sum(OpenSpan top) {
    PointLog point = top.point;
    top.span = top.below == null ? 0 : top.below.span;
    top.scopeInside = top.scope;
    top.start = 0;
    depth++;
    if (point.sampler.next() && point.timedDepth == 0) {
      point.timedDepth = OpenSpan.TIMED;
      top.start = log.now();
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

  /** See {@link ThreadLog#exit(long, long, int, int)}; there must be an open span. */
  @DontInline
  void exit(long target, long bytes, int ret, int flags) {
    OpenSpan top = top();
    long end = top.start == 0 ? 0 : log.now();
    SegmentChain chain = this.chain;
    leave(top);
    depth--;
    if (target != 0) {
      top.target = target;
    }
    top.flags |= flags;
    if (!top.kept) {
      exitSummed(top, bytes, (flags & ERROR) != 0, end);
      return;
    }
    kept--;
    if (chain.segment == null) {
      log.lost();
      return;
    }
    long dur = end - top.start;
    if (counted.depth > (top.below == null ? 0 : top.below.countedBefore)) {
      counted.inside(dur);
    }
    boolean error = (flags & ERROR) != 0;
    // The row first: after kill -9 the counts may be ahead of the slots, never behind.
    RowLog row = chain.row(top.point, key(top, bytes), top.scope);
    if (row != null) {
      row.add(chain.segment, bytes, top.asked, error, dur, end);
    }
    chain.store();
    chain.call(top, dur, bytes, ret);
    chain.segment.depth(kept);
  }

  /** See {@link ThreadLog#drop}; there must be an open span. */
  void drop() {
    OpenSpan top = top();
    leave(top);
    depth--;
    if (!top.kept) {
      top.untime();
      return;
    }
    kept--;
    if (chain.segment != null) {
      chain.segment.depth(kept);
    }
  }

  /**
   * As {@link CountedOnlyCalls#exit}: a call that ends like the one before only adds to its row.
   */
  @DontInline
  private void exitSummed(OpenSpan top, long bytes, boolean error, long end) {
    PointLog point = top.point;
    long dur = top.start == 0 ? Row.UNTIMED : Math.max(0, end - top.start - log.clockCost);
    top.untime();
    if (chain.segment == null) {
      log.lost();
      return;
    }
    RowLog row = chain.row(point, key(top, bytes), top.scope);
    if (row == null) {
      return; // counted as lost
    }
    if (dur == Row.UNTIMED && !error) {
      row.again(chain, bytes, top.asked);
    } else {
      row.addSampled(chain.segment, bytes, top.asked, error, point.sampler, dur, end, 0);
    }
    if (depth == 0) {
      chain.store(); // nothing that ends will do it
    }
  }

  private static long key(OpenSpan top, long bytes) {
    return Row.key(top.point.id, top.flags, top.target, bytes, top.context);
  }

  /** Takes a span off the open layers, and counted-only calls inside it that never ended. */
  private void leave(OpenSpan top) {
    counted.cut(top.countedBefore);
    log.layers = top.layersBefore;
    log.contextEpoch = top.below == null ? ThreadLog.NOWHERE : top.below.contextEpoch;
  }

  /** Tells a new segment what is open; gives ids to spans that began while there was none. */
  void moveTo(Segment segment) {
    int mirrored = 0;
    for (int d = 0; d < depth; d++) {
      OpenSpan open = levels[d];
      open.contextEpoch = log.newContextEpoch();
      long above = open.below == null ? 0 : open.below.span;
      if (!open.kept) {
        open.span = above;
        continue;
      }
      if (open.span == 0) {
        open.span = ++segment.span;
        open.parent = above;
      }
      segment.open(mirrored++, open.span, open.start, open.parent, open.mirrored());
    }
    log.contextEpoch = depth == 0 ? ThreadLog.NOWHERE : top().contextEpoch;
  }

  /** Whose the calls are that come next, or why they happen, is not what it was. */
  void changed() {
    if (log.contextEpoch != ThreadLog.NOWHERE) {
      top().contextEpoch = log.newContextEpoch();
      log.contextEpoch = top().contextEpoch;
    }
  }
}
