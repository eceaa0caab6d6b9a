package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.util.Collection;
import java.util.HashMap;

/** The points by the class that they are woven into. */
final class PointTable {
  private static final Point[] NONE = {};

  final byte[] layerOfPoint = new byte[Schema.PROCESS_MAX_POINTS];
  final boolean[] anchorOfPoint = new boolean[Schema.PROCESS_MAX_POINTS];
  final boolean[] beginOfPoint = new boolean[Schema.PROCESS_MAX_POINTS];
  final byte[] flowOfPoint = new byte[Schema.PROCESS_MAX_POINTS];

  private final HashMap<String, Point[]> byClass = new HashMap<>(128);
  private final HashMap<String, Byte> flows = new HashMap<>();

  /**
   * @param text tab-separated, one point a line, the first line names the fields
   */
  static PointTable parse(String text) {
    PointTable table = new PointTable();
    String[] row = new String[Point.FIELDS];
    int at = text.indexOf('\n') + 1;
    while (at < text.length()) {
      for (int field = 0; field < Point.FIELDS; field++) {
        int end = text.indexOf(field == Point.FIELDS - 1 ? '\n' : '\t', at);
        row[field] = text.substring(at, end);
        at = end + 1;
      }
      table.add(new Point(row));
    }
    return table;
  }

  private void add(Point point) {
    if (!point.own) {
      Point[] before = of(point.internalName);
      Point[] after = new Point[before.length + 1];
      System.arraycopy(before, 0, after, 0, before.length);
      after[before.length] = point;
      byClass.put(point.internalName, after);
    }
    layerOfPoint[point.id] = point.effectOnly ? 0 : point.layer;
    anchorOfPoint[point.id] = point.anchor;
    beginOfPoint[point.id] = point.begin;
    flowOfPoint[point.id] = flow(point);
  }

  /** Number of the flow that a point's bytes belong to: one of each operation of a layer. */
  private byte flow(Point point) {
    if (point.effectOnly || point.bytes == null && point.measure == null) {
      return 0;
    }
    String flow = point.layer + (point.op.equals("transfer") ? "read" : point.op);
    Byte known = flows.get(flow);
    if (known == null) {
      known = (byte) (flows.size() + 1);
      flows.put(flow, known);
    }
    return known;
  }

  /** Points of a class, none for all but a few. */
  Point[] of(String internalName) {
    Point[] points = internalName == null ? null : byClass.get(internalName);
    return points == null ? NONE : points;
  }

  /** The points of each class that has any, in no order. */
  Collection<Point[]> classes() {
    return byClass.values();
  }
}
