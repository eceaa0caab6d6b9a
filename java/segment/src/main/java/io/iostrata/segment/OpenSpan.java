package io.iostrata.segment;

/** One level of a thread's open spans, on its heap. */
final class OpenSpan {
  /** The enclosing level; null at the bottom. */
  final OpenSpan below;

  PointLog point;
  long span;
  long start;
  long parent;
  long target; // handle
  long asked;
  long offset;
  int flags;
  int context;

  /** Anchor of the call itself. */
  long anchor;

  /** Anchor of what it encloses. */
  long anchorInside;

  /** Layers and hot calls that were open before it. */
  long layersBefore;

  int hotBefore;

  OpenSpan(OpenSpan below) {
    this.below = below;
  }

  long what(int kind) {
    return Slot.what(target, point.id, kind, flags);
  }

  /** target | point &lt;&lt; 32 | flags &lt;&lt; 48 */
  long mirrored() {
    return target & 0xFFFFFFFFL | (long) point.id << 32 | (long) flags << 48;
  }
}
