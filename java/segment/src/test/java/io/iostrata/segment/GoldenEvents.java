package io.iostrata.segment;

import java.util.List;
import java.util.StringJoiner;

/** What a trace holds as JSON, one record a line: events.json of the golden files. */
final class GoldenEvents {
  private GoldenEvents() {}

  static String json(TraceReader trace) {
    StringJoiner json = new StringJoiner(",\n", "{\n", "\n}\n");
    json.add(list("slots", trace.slots().stream().map(slot -> slot(trace, slot)).toList()));
    json.add(list("rows", trace.rows().stream().map(GoldenEvents::row).toList()));
    json.add(list("open", trace.open().stream().map(open -> open(trace, open)).toList()));
    json.add("\"gaps\":" + trace.gaps());
    json.add("\"folded\":" + trace.collapsed());
    return json.toString();
  }

  private static String list(String name, List<String> records) {
    return "\"" + name + "\":[\n  " + String.join(",\n  ", records) + "\n]";
  }

  private static String slot(TraceReader trace, TraceReader.Slot slot) {
    return "{\"kind\":\"%s\",\"point\":%d,\"start\":%d,\"dur\":%d,\"bytes\":%d,\"offset\":%d,"
            .formatted(
                slot.kind(), slot.point(), slot.start(), slot.dur(), slot.bytes(), slot.offset())
        + "\"asked\":%d,\"ret\":%d,\"flags\":%d,\"span\":%d,\"parent\":%d,\"target\":%s}"
            .formatted(
                slot.asked(),
                slot.ret(),
                slot.flags(),
                slot.span(),
                slot.parent(),
                target(trace, slot.targetId()));
  }

  private static String target(TraceReader trace, int id) {
    if (id == 0) {
      return "null";
    }
    TraceReader.Entry entry = trace.entry(id);
    String name = entry.name().replace("\t", "\\t");
    return "{\"category\":\"%s\",\"name\":\"%s\",\"block\":%d}"
        .formatted(category(entry.category()), name, entry.block());
  }

  private static String category(int code) {
    return switch (code) {
      case Schema.CATEGORY_UNKNOWN -> "unknown";
      case Schema.CATEGORY_BLK -> "blk";
      case Schema.CATEGORY_BLK_META -> "blk_meta";
      case Schema.CATEGORY_INPUT -> "input";
      case Schema.CATEGORY_OUTPUT -> "output";
      case Schema.CATEGORY_HDFS -> "hdfs";
      case Schema.CATEGORY_FILE -> "file";
      case Schema.CATEGORY_CONTEXT -> "context";
      default -> throw new AssertionError("no name for category " + code);
    };
  }

  private static String row(TraceReader.Row row) {
    return "{\"point\":%d,\"category\":\"%s\",\"size_class\":%d,\"context\":%d,\"flags\":%d,"
            .formatted(
                row.point(), category(row.category()), row.sizeClass(), row.context(), row.flags())
        + "\"anchor\":%d,\"count\":%d,\"bytes\":%d,\"asked\":%d,\"errors\":%d,\"timed\":%d,"
            .formatted(
                row.scope(), row.count(), row.bytes(), row.asked(), row.errors(), row.timed())
        + "\"timed_dur\":%d,\"min\":%d,\"max\":%d,\"last_end\":%d,"
            .formatted(row.timedDur(), row.min(), row.max(), row.lastEnd())
        + "\"weight\":%d,\"spread\":%.0f,\"inside\":%d}"
            .formatted(row.weight(), row.spread(), row.inside());
  }

  private static String open(TraceReader trace, TraceReader.Open open) {
    return "{\"span\":%d,\"start\":%d,\"parent\":%d,\"target\":%s,\"point\":%d,\"flags\":%d}"
        .formatted(
            open.span(),
            open.start(),
            open.parent(),
            target(trace, open.targetId()),
            open.point(),
            open.flags());
  }
}
