package io.iostrata.agent;

import io.iostrata.segment.NativeLibrary;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Sets the hooks up in the JVM of the tests, as the agent does in a traced one. */
final class HooksForTests {
  private static byte operations;

  /** By point id: number of the operation whose bytes it adds up. */
  static final byte[] ADDS_UP = new byte[Schema.PROCESS_MAX_POINTS];

  private HooksForTests() {}

  /** A recorder in {@code directory} that knows the points of a table, and is recording. */
  static Recorder begin(Path directory, PointTable table) throws IOException {
    System.load(NativeLibrary.path().toString());
    Recorder.Options options = new Recorder.Options();
    options.dir = directory;
    Recorder recorder = Recorder.open(options);
    Probe.forget(); // threads of tests before know handles of another recorder
    install(table);
    recorder.points(facts(table));
    Hooks.recorder = recorder;
    Hooks.record(true);
    return recorder;
  }

  /** What {@link PointCodes} does with generated numbers, for any table. */
  static void install(PointTable table) {
    Hooks.begin();
    operations = 0;
    Arrays.fill(ADDS_UP, (byte) 0);
    for (Point[] points : table.classes()) {
      for (Point point : points) {
        Hooks.install(point);
        if (point.bytes != null && point.bytes.isInside()) {
          addUp(point, table);
        }
      }
    }
  }

  /** Gives the operation that makes up {@code whole} a number, the same for all its points. */
  private static void addUp(Point whole, PointTable table) {
    byte number = 0;
    for (Point[] points : table.classes()) {
      for (Point point : points) {
        if (point.layer == whole.layer && point.op.equals(whole.bytes.field)) {
          // The first point of an operation gives it its number.
          number = number != 0 ? number : Hooks.ADDED_UP[point.id];
          number = number != 0 ? number : ++operations;
          Hooks.ADDED_UP[point.id] = number;
        }
      }
    }
    ADDS_UP[whole.id] = number;
  }

  private static long[] facts(PointTable table) {
    long[] facts = new long[Schema.PROCESS_MAX_POINTS];
    for (Point[] points : table.classes()) {
      for (Point point : points) {
        int layer = point.effectOnly ? 0 : point.layer;
        int added = Hooks.ADDED_UP[point.id];
        facts[point.id] =
            Recorder.facts(point.id, layer, 0, point.scope, point.begin, ADDS_UP[point.id], added);
      }
    }
    return facts;
  }

  static void target(int point, Extractor extractor) {
    Hooks.TARGETS[point] = extractor;
  }

  /** Point, calls, bytes and errors of each, added up over its rows. */
  static List<String> sums(Path directory) throws IOException {
    TraceReader trace = TraceReader.only(directory).peek();
    return trace.rows().stream()
        .map(TraceReader.Row::point)
        .distinct()
        .sorted()
        .map(point -> sum(point, trace))
        .toList();
  }

  private static String sum(int point, TraceReader trace) {
    List<TraceReader.Row> rows = trace.rows().stream().filter(row -> row.point() == point).toList();
    long count = rows.stream().mapToLong(TraceReader.Row::count).sum();
    long bytes = rows.stream().mapToLong(TraceReader.Row::bytes).sum();
    long errors = rows.stream().mapToLong(TraceReader.Row::errors).sum();
    return point + ": " + count + " calls " + bytes + " B " + errors + " errors";
  }

  static void end() {
    Hooks.record(false);
  }
}
