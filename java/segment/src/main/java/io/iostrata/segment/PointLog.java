package io.iostrata.segment;

import java.util.Arrays;

/** What one thread remembers of one point. */
final class PointLog {
  /** Layers have codes below this, flows numbers up to 63 less this. */
  private static final int FIRST_FLOW = 15;

  final int id;

  /** Bit of the layer among the open ones. */
  final long layer;

  /** Bit of the flow of bytes among the open ones; 0: carries none. */
  final long flow;

  /** Both bits. */
  final long open;

  final boolean anchor;

  /** Its calls may be only summed to stay within the budget. */
  final boolean yields;

  final boolean begin;

  /** The rows met last, by their size class and what else is different from call to call. */
  private final RowLog[] rows = new RowLog[32];

  /** Its hot calls, by what they are nested in; null until the first. */
  private HotCall[] hot;

  /** Of calls that are not kept one by one. */
  final Sampler sampler;

  // At which depth of hot calls one is being timed, 0 none; since when.
  int timedDepth;
  long timedStart;

  PointLog(int id, Recorder.Options options, long seed) {
    this.id = id;
    sampler = new Sampler(seed + id);
    layer = 1L << options.layerOfPoint[id];
    int number = options.flowOfPoint[id];
    flow = number == 0 ? 0 : 1L << FIRST_FLOW + number;
    open = layer | flow;
    anchor = options.anchorOfPoint[id];
    yields = Schema.yields(id);
    begin = options.beginOfPoint[id];
  }

  /** {@code inner} and {@code covered}, by the layers and flows open around a call. */
  int flags(long open) {
    return ((open & layer) != 0 ? Schema.FLAG_INNER : 0)
        | ((open & flow) != 0 ? Schema.FLAG_COVERED : 0);
  }

  /** The hot call that begins while these layers and flows are open. */
  HotCall hot(long layers) {
    if (hot == null) {
      hot = new HotCall[4];
    }
    int kind = kind(layers);
    if (hot[kind] == null) {
      hot[kind] = new HotCall(this);
    }
    return hot[kind];
  }

  /** The same if there has been one like it. */
  HotCall hotOrNull(long layers) {
    return hot == null ? null : hot[kind(layers)];
  }

  private int kind(long layers) {
    return ((layers & layer) != 0 ? 1 : 0) | ((layers & flow) != 0 ? 2 : 0);
  }

  /** The row of the key, if it was met lately; else null. */
  RowLog row(long key, long anchor) {
    RowLog row = rows[place(key)];
    return row != null && row.key == key && row.anchor == anchor ? row : null;
  }

  void met(RowLog row) {
    rows[place(row.key)] = row;
  }

  void forget() {
    Arrays.fill(rows, null);
  }

  /** Size classes next to each other do not meet, nor calls within others of the layer or flow. */
  private static int place(long key) {
    byte flags = Row.flags(key);
    return (int) (key >>> 24) & 7
        | ((flags & Schema.FLAG_INNER) != 0 ? 8 : 0)
        | ((flags & Schema.FLAG_COVERED) != 0 ? 16 : 0);
  }
}
