package io.iostrata.segment;

import java.util.Arrays;

/** What one thread remembers of one point. */
final class PointLog {
  /** Layers have codes below this, directions numbers up to 63 less this. */
  private static final int FIRST_FLOW = 15;

  final int id;

  /** Bit of the layer among the open ones. */
  final long layer;

  /** Bit of the direction of bytes among the open ones; 0: carries none. */
  final long direction;

  /** Both bits. */
  final long open;

  final boolean scope;

  /** Its calls may be only summed to stay within the budget. */
  final boolean summedUnderBudget;

  final boolean begin;

  /** The rows met last, by their size class and what else is different from call to call. */
  private final RowLog[] rows = new RowLog[32];

  /** Its counted-only calls, by what they are nested in; null until the first. */
  private CountedOnlyCall[] counted;

  /** Of calls that are not recorded individually. */
  final Sampler sampler;

  // At which depth of counted-only calls one is being timed, 0 none; since when.
  int timedDepth;
  long timedStart;

  PointLog(int id, Recorder.Options options, long seed) {
    this.id = id;
    sampler = new Sampler(seed + id);
    layer = 1L << options.layerOfPoint[id];
    int number = options.directionOfPoint[id];
    direction = number == 0 ? 0 : 1L << FIRST_FLOW + number;
    open = layer | direction;
    scope = options.scopeOfPoint[id];
    summedUnderBudget = Schema.summedUnderBudget(id);
    begin = options.beginOfPoint[id];
  }

  /** {@code inner} and {@code covered}, by the layers and directions open around a call. */
  int flags(long open) {
    return ((open & layer) != 0 ? Schema.FLAG_INNER : 0)
        | ((open & direction) != 0 ? Schema.FLAG_COVERED : 0);
  }

  /** The counted-only call that begins while these layers and directions are open. */
  CountedOnlyCall counted(long layers) {
    if (counted == null) {
      counted = new CountedOnlyCall[4];
    }
    int kind = kind(layers);
    if (counted[kind] == null) {
      counted[kind] = new CountedOnlyCall(this);
    }
    return counted[kind];
  }

  /** The same if there has been one like it. */
  CountedOnlyCall countedOrNull(long layers) {
    return counted == null ? null : counted[kind(layers)];
  }

  private int kind(long layers) {
    return ((layers & layer) != 0 ? 1 : 0) | ((layers & direction) != 0 ? 2 : 0);
  }

  /** The row of the key, if it was met lately; else null. */
  RowLog row(long key, long scope) {
    RowLog row = rows[place(key)];
    return row != null && row.key == key && row.scope == scope ? row : null;
  }

  void met(RowLog row) {
    rows[place(row.key)] = row;
  }

  void forget() {
    Arrays.fill(rows, null);
  }

  /**
   * Size classes next to each other do not meet, nor calls within others of the layer or direction.
   */
  private static int place(long key) {
    byte flags = Row.flags(key);
    return (int) (key >>> 24) & 7
        | ((flags & Schema.FLAG_INNER) != 0 ? 8 : 0)
        | ((flags & Schema.FLAG_COVERED) != 0 ? 16 : 0);
  }
}
