package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;

/** The points by the class that they are woven into. */
final class PointTable {
  static final Point[] NONE = {};

  /** The writer has a bit for each. */
  private static final int MAX_FLOWS = 48;

  /** Never changed, only replaced: threads that load classes read it at any time. */
  private volatile HashMap<String, Point[]> byClass = new HashMap<>(128);

  private final HashMap<String, Byte> directions = new HashMap<>();

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
      add(byClass, point);
    }
    direction(point);
  }

  private static void add(HashMap<String, Point[]> to, Point point) {
    Point[] before = to.get(point.internalName);
    before = before == null ? NONE : before;
    Point[] after = new Point[before.length + 1];
    System.arraycopy(before, 0, after, 0, before.length);
    after[before.length] = point;
    to.put(point.internalName, after);
  }

  /**
   * Number of the direction that a point's bytes belong to: one of each operation of a layer. 0
   * when users have named more operations than there are numbers: their bytes are then never
   * covered.
   */
  byte direction(Point point) {
    if (point.effectOnly || point.bytes == null && point.measure == null) {
      return 0;
    }
    String direction = point.layer + flow(point.op);
    Byte known = directions.get(direction);
    if (known == null) {
      if (directions.size() == MAX_FLOWS) {
        return 0;
      }
      known = (byte) (directions.size() + 1);
      directions.put(direction, known);
    }
    return known;
  }

  /**
   * The operation whose bytes an operation's are when it is around it; schema/generate.py has it.
   */
  private static String flow(String op) {
    if (op.equals("transfer")) {
      return "read";
    }
    return op.equals("raw_write") ? "write" : op;
  }

  /** From here on these are the points of users, and no others. */
  void users(Collection<Point> points) {
    HashMap<String, Point[]> next = new HashMap<>(byClass.size() * 2);
    for (Point[] some : byClass.values()) {
      Point[] ours = of(some, false);
      if (ours.length > 0) {
        next.put(ours[0].internalName, ours);
      }
    }
    for (Point point : points) {
      add(next, point);
    }
    byClass = next;
  }

  /** Those of these points that users named, or those that are ours. */
  static Point[] of(Point[] points, boolean users) {
    ArrayList<Point> some = new ArrayList<>(points.length);
    for (int i = 0; i < points.length; i++) {
      if (points[i].id >= Schema.PROCESS_FIRST_USER_POINT == users) {
        some.add(points[i]);
      }
    }
    return some.toArray(NONE);
  }

  /** These points without those that count records. */
  static Point[] withoutRecords(Point[] points) {
    int size = 0;
    for (int i = 0; i < points.length; i++) {
      size += points[i].countsRecords ? 0 : 1;
    }
    if (size == points.length) {
      return points;
    }
    Point[] some = new Point[size];
    for (int i = points.length - 1; i >= 0; i--) {
      if (!points[i].countsRecords) {
        some[--size] = points[i];
      }
    }
    return some;
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
