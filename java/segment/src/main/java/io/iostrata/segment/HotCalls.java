package io.iostrata.segment;

import java.util.Arrays;

/** The open hot calls of a thread. */
final class HotCalls {
  private static final int SAMPLE_MASK = 1023;

  int depth;
  private PointLog[] points = new PointLog[8];
  private long[] layersBefore = new long[8];

  /** True when the call is to be timed: one of 1,024 of a point, the first always. */
  boolean push(PointLog point, long layers) {
    if (depth == points.length) {
      points = Arrays.copyOf(points, depth * 2);
      layersBefore = Arrays.copyOf(layersBefore, depth * 2);
    }
    points[depth] = point;
    layersBefore[depth++] = layers;
    return (point.hotCalls++ & SAMPLE_MASK) == 0 && point.timedDepth == 0;
  }

  /** Depth of the innermost call of the point, 0 none. */
  int find(int point) {
    int d = depth;
    while (d > 0 && points[d - 1].id != point) {
      d--;
    }
    return d;
  }

  PointLog top() {
    return points[depth - 1];
  }

  /** Takes off the calls above a smaller depth; the layers that were open before them. */
  long cut(int to) {
    while (depth > to) {
      PointLog point = points[--depth];
      if (point.timedDepth > depth) {
        point.timedDepth = 0;
      }
    }
    return layersBefore[to];
  }
}
