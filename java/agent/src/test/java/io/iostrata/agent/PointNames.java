package io.iostrata.agent;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The built-in points, as tests print them. */
final class PointNames {
  static final List<Point> ALL = all();

  private PointNames() {}

  private static List<Point> all() {
    List<Point> points = new ArrayList<>();
    PointTable.parse(PointText.table()).classes().forEach(some -> points.addAll(List.of(some)));
    points.sort(Comparator.comparingInt(point -> point.id));
    return points;
  }

  /** Simple class, method and descriptor: {@code FileInputStream.read([BII)I}. */
  static String of(int id) {
    return ALL.stream()
        .filter(point -> point.id == id)
        .map(PointNames::of)
        .findFirst()
        .orElseThrow();
  }

  static String of(Point point) {
    String simple = point.internalName.substring(point.internalName.lastIndexOf('/') + 1);
    return simple + "." + point.method + point.descriptor;
  }
}
