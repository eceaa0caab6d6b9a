package io.iostrata.segment;

/** One level of a thread's open spans, on its heap. */
final class OpenSpan {
  /** The enclosing level; null at the bottom. */
  final OpenSpan below;

  PointLog point;

  /** False: it is only summed, and what it encloses hangs from the span that encloses it. */
  boolean kept;

  /**
   * Of a billion requests, how many were in the sample when its request began: above 0, and it is
   * one of them, or below 0, and it is not. 0: a task, what it encloses begins requests.
   */
  int sampling;

  /** Its own, or the nearest one kept; 0 none. */
  long span;

  /** 0: not timed. */
  long start;

  long parent;
  long target; // handle
  long asked;
  long offset;
  int flags;
  int context;

  /** Scope of the call itself. */
  long scope;

  /** Scope of what it encloses. */
  long scopeInside;

  /** Layers and counted-only calls that were open before it. */
  long layersBefore;

  int countedBefore;

  /** {@link ThreadLog#contextEpoch} inside it. */
  long contextEpoch;

  /** {@link PointLog#timedDepth} while a summed span is being timed. */
  static final int TIMED = -1;

  OpenSpan(OpenSpan below) {
    this.below = below;
  }

  /** A summed span is not being timed any more. */
  void untime() {
    if (start != 0) {
      point.timedDepth = 0;
    }
  }

  long what(int kind) {
    return Slot.what(target, point.id, kind, flags);
  }

  /** target | point &lt;&lt; 32 | flags &lt;&lt; 48 */
  long mirrored() {
    return target & 0xFFFFFFFFL | (long) point.id << 32 | (long) flags << 48;
  }
}
