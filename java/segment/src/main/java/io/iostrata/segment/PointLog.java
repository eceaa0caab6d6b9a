package io.iostrata.segment;

/** What one thread remembers of one point. */
final class PointLog {
  /** Layers have codes below this, flows numbers up to 63 less this. */
  private static final int FIRST_FLOW = 15;

  final int id;

  /** Bit of the layer among the open ones. */
  final long layer;

  /** Bit of the flow of bytes among the open ones; 0: carries none. */
  final long flow;

  final boolean anchor;
  final boolean begin;

  // The row found last: its key, and its offset in the segment; 0 is no row, the header is there.
  long rowKey;
  long rowAnchor;
  int row;

  // Hot calls: how many so far; at which hot depth one is being timed, 0 none; since when.
  int hotCalls;
  int timedDepth;
  long timedStart;

  PointLog(int id, Recorder.Options options) {
    this.id = id;
    layer = 1L << options.layerOfPoint[id];
    int number = options.flowOfPoint[id];
    flow = number == 0 ? 0 : 1L << FIRST_FLOW + number;
    anchor = options.anchorOfPoint[id];
    begin = options.beginOfPoint[id];
  }

  /** {@code inner} and {@code covered}, by the layers and flows open around a call. */
  int flags(long open) {
    return ((open & layer) != 0 ? Schema.FLAG_INNER : 0)
        | ((open & flow) != 0 ? Schema.FLAG_COVERED : 0);
  }

  void found(long key, long anchor, int row) {
    rowKey = key;
    rowAnchor = anchor;
    this.row = row;
  }
}
