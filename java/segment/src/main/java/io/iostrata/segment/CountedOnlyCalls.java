package io.iostrata.segment;

import java.util.Arrays;

/**
 * The open counted-only calls of a thread. There are 160,000 of them per MB, so the way of a call
 * like the one before is short: it adds to a row that is remembered with that one.
 */
final class CountedOnlyCalls {
  int depth;

  private final ThreadLog log;
  private CountedOnlyCall[] calls = new CountedOnlyCall[4];

  CountedOnlyCalls(ThreadLog log) {
    this.log = log;
  }

  /**
   * A call begins.
   *
   * @param object that the target was found by, see {@link ThreadLog#enterCounted}
   */
  void enter(PointLog point, long target, Object object, long asked, long bytes) {
    CountedOnlyCall call = point.counted(log.layers);
    if (call.isOpen) {
      call = new CountedOnlyCall(point); // of the same kind, inside it: rare
    }
    if (call.contextEpoch != log.contextEpoch || call.target != target || !call.isOf(object)) {
      call.learn(object, target, log.contextEpoch);
    }
    push(call, asked, bytes);
  }

  /**
   * {@link #enter} of a call like the one before.
   *
   * @return false when nothing has been done
   */
  boolean enterQuickly(PointLog point, Object object, long asked, long bytes) {
    CountedOnlyCall call = point.countedOrNull(log.layers);
    if (call == null
        || call.contextEpoch != log.contextEpoch
        || call.isOpen
        || !call.isOf(object)) {
      return false;
    }
    push(call, asked, bytes);
    return true;
  }

  private void push(CountedOnlyCall call, long asked, long bytes) {
    int at = depth;
    if (at == calls.length) {
      calls = Arrays.copyOf(calls, at * 2);
    }
    if (calls[at] != call) {
      calls[at] = call; // a reference store has a price under G1
    }
    depth = at + 1;
    PointLog point = call.point;
    long layers = log.layers;
    log.layers = layers | point.open;
    call.isOpen = true;
    call.layersBefore = layers;
    call.asked = asked;
    call.bytes = bytes;
    if (point.sampler.next() && point.timedDepth == 0) {
      point.timedDepth = at + 1;
      point.timedStart = log.now();
    }
  }

  /** The innermost call of the point is the last that counts; false when it has none open. */
  boolean unwind(int point, int floor) {
    int d = depth;
    while (d > floor && calls[d - 1].point.id != point) {
      d--;
    }
    if (d <= floor) {
      return false;
    }
    cut(d);
    return true;
  }

  boolean isTop(int point, int floor) {
    return depth > floor && calls[depth - 1].point.id == point;
  }

  /**
   * The call on top ends.
   *
   * @param span that encloses it, null: none
   * @param moved {@link ThreadLog#AS_ENTERED}, or what to add to the bytes given at entry
   */
  @DontInline
  void exit(SegmentChain chain, OpenSpan span, long moved, boolean error, int context) {
    CountedOnlyCall call = calls[--depth];
    PointLog point = call.point;
    long inside = call.inside;
    long end = 0;
    long dur = Row.UNTIMED;
    if (point.timedDepth > depth) {
      end = log.now();
      dur = Math.max(0, end - point.timedStart - inside - log.clockCost);
      point.timedDepth = 0;
    }
    close(call);
    if (chain.segment == null) {
      log.lost();
      return;
    }
    if (inside != 0 && depth > (span == null ? 0 : span.countedBefore)) {
      inside(inside);
    }
    long bytes = error ? 0 : bytes(call, moved);
    RowLog row = row(chain, span, call, bytes, context);
    if (row == null) {
      return; // counted as lost
    }
    if (dur == Row.UNTIMED && inside == 0 && !error) {
      row.again(chain, bytes, call.asked);
    } else {
      row.addSampled(chain.segment, bytes, call.asked, error, point.sampler, dur, end, inside);
    }
    if (span == null) {
      chain.store(); // nothing that ends will do it
    }
  }

  private static long bytes(CountedOnlyCall call, long moved) {
    return Math.max(0, moved == ThreadLog.AS_ENTERED ? call.bytes : call.bytes + moved);
  }

  private RowLog row(
      SegmentChain chain, OpenSpan span, CountedOnlyCall call, long bytes, int context) {
    PointLog point = call.point;
    long target = call.target == 0 && span != null ? span.target : call.target;
    long scope = span == null ? 0 : span.scopeInside;
    long key = Row.key(point.id, point.flags(log.layers), target, bytes, context);
    RowLog row = chain.row(point, key, scope);
    // A segment may have come that has other rows.
    if (row != null && row.key == key && call.contextEpoch == log.contextEpoch) {
      call.met(row);
    }
    return row;
  }

  /**
   * {@link #exit} of a call like the one before.
   *
   * @return false when nothing has been done
   */
  @DontInline
  boolean exitQuickly(SegmentChain chain, int point, long moved) {
    int at = depth - 1;
    if (at < 0) {
      return false;
    }
    CountedOnlyCall call = calls[at];
    PointLog whose = call.point;
    if (whose.id != point
        || call.contextEpoch != log.contextEpoch
        || call.inside != 0
        || whose.timedDepth > at) {
      return false;
    }
    long bytes = bytes(call, moved);
    RowLog row = call.row(bytes);
    if (row == null) {
      return false;
    }
    depth = at;
    call.isOpen = false;
    log.layers = call.layersBefore;
    row.again(chain, bytes, call.asked);
    return true;
  }

  /**
   * Time of a call recorded individually, or of one inside that, within the counted-only call on
   * top.
   */
  void inside(long dur) {
    calls[depth - 1].inside += dur;
  }

  private void close(CountedOnlyCall call) {
    call.isOpen = false;
    call.inside = 0;
    log.layers = call.layersBefore;
  }

  /** Takes off the calls above a smaller depth, as if they had not been. */
  void cut(int to) {
    while (depth > to) {
      CountedOnlyCall call = calls[--depth];
      PointLog point = call.point;
      if (point.timedDepth > depth) {
        point.timedDepth = 0;
      }
      close(call);
    }
  }
}
