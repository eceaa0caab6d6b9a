package io.iostrata.segment;

import java.util.Arrays;

/**
 * The open hot calls of a thread. There are 160,000 of them per MB, so the way of a call that ends
 * like the one before is short: it adds to what the point remembers of its row.
 */
final class HotCalls {
  /** One level, on the heap of the thread. */
  private static final class Level {
    PointLog point;
    long layersBefore;
    long target; // handle
    long asked;
    long bytes; // that AS_ENTERED means

    /** Time of calls kept one by one inside. */
    long inside;
  }

  int depth;

  private final ThreadLog log;
  private Level[] levels = {new Level(), new Level(), new Level(), new Level()};

  HotCalls(ThreadLog log) {
    this.log = log;
  }

  void enter(PointLog point, long target, long asked, long bytes) {
    if (depth == levels.length) {
      grow();
    }
    Level level = levels[depth++];
    if (level.point != point) {
      level.point = point; // a reference store has a price under G1
    }
    long layers = log.layers;
    level.layersBefore = layers;
    log.layers = layers | point.open;
    level.target = target;
    level.asked = asked;
    level.bytes = bytes;
    level.inside = 0;
    if (point.sampler.next() && point.timedDepth == 0) {
      point.timedDepth = depth;
      point.timedStart = log.now();
    }
  }

  private void grow() {
    int from = levels.length;
    levels = Arrays.copyOf(levels, from * 2);
    for (int d = from; d < levels.length; d++) {
      levels[d] = new Level();
    }
  }

  /** The innermost call of the point is the last that counts; false when it has none open. */
  boolean unwind(int point, int floor) {
    int d = depth;
    while (d > floor && levels[d - 1].point.id != point) {
      d--;
    }
    if (d <= floor) {
      return false;
    }
    cut(d);
    return true;
  }

  boolean isTop(int point, int floor) {
    return depth > floor && levels[depth - 1].point.id == point;
  }

  /**
   * The call on top ends.
   *
   * @param span that encloses it, null: none
   * @param moved {@link ThreadLog#AS_ENTERED}, or what to add to the bytes given at entry
   */
  void exit(SegmentChain chain, OpenSpan span, long moved, boolean error, int context) {
    Level level = levels[--depth];
    PointLog point = level.point;
    long layers = level.layersBefore;
    log.layers = layers;
    long target = level.target;
    long anchor = 0;
    if (span != null) {
      target = target == 0 ? span.target : target;
      anchor = span.anchorInside;
    }
    long bytes = moved == ThreadLog.AS_ENTERED ? level.bytes : level.bytes + moved;
    bytes = error || bytes < 0 ? 0 : bytes;
    long key = Row.key(point.id, point.flags(layers), target, bytes, context);
    RowLog row = point.row(key, anchor);
    if (row != null && level.inside == 0 && !error && point.timedDepth <= depth) {
      row.again(chain, bytes, level.asked);
    } else {
      exitSlowly(chain, span, level, key, anchor, bytes, error);
    }
    if (span == null) {
      chain.store(); // nothing that ends will do it
    }
  }

  /**
   * {@link #exit} of a call like the one before.
   *
   * @param span that encloses it
   * @return false when nothing has been done
   */
  boolean exitQuickly(SegmentChain chain, OpenSpan span, int point, long moved, int context) {
    int at = depth - 1;
    if (at < span.hotBefore) {
      return false;
    }
    Level level = levels[at];
    PointLog whose = level.point;
    if (whose.id != point || level.inside != 0 || whose.timedDepth > at) {
      return false;
    }
    long layers = level.layersBefore;
    long target = level.target == 0 ? span.target : level.target;
    long bytes = moved == ThreadLog.AS_ENTERED ? level.bytes : level.bytes + moved;
    bytes = bytes < 0 ? 0 : bytes;
    long key = Row.key(point, whose.flags(layers), target, bytes, context);
    RowLog row = whose.row(key, span.anchorInside);
    if (row == null) {
      return false;
    }
    depth = at;
    log.layers = layers;
    row.again(chain, bytes, level.asked);
    return true;
  }

  private void exitSlowly(
      SegmentChain chain,
      OpenSpan span,
      Level level,
      long key,
      long anchor,
      long bytes,
      boolean error) {
    PointLog point = level.point;
    long inside = level.inside;
    long end = 0;
    long dur = Row.UNTIMED;
    if (point.timedDepth > depth) {
      end = log.now();
      dur = Math.max(0, end - point.timedStart - inside - log.clockCost);
      point.timedDepth = 0;
    }
    if (chain.segment == null) {
      log.lost();
      return;
    }
    if (inside != 0 && depth > (span == null ? 0 : span.hotBefore)) {
      inside(inside);
    }
    RowLog row = chain.row(point, key, anchor);
    if (row != null) {
      row.addSampled(chain.segment, bytes, level.asked, error, point.sampler, dur, end, inside);
    }
  }

  /** Time of a call kept one by one, or of one inside that, within the hot call on top. */
  void inside(long dur) {
    levels[depth - 1].inside += dur;
  }

  /** Takes off the calls above a smaller depth, as if they had not been. */
  void cut(int to) {
    if (depth <= to) {
      return;
    }
    while (depth > to) {
      PointLog point = levels[--depth].point;
      if (point.timedDepth > depth) {
        point.timedDepth = 0;
      }
    }
    log.layers = levels[to].layersBefore;
  }
}
