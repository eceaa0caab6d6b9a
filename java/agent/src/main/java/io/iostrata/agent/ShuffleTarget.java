package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * {@code shuffle(host, map)}: output of a map attempt at the node that serves it. The host is a
 * reduce.MapHost; the map is a TaskAttemptID or a reduce.MapOutput, or null for all that is there.
 */
final class ShuffleTarget extends Extractor {
  private static final String MAP_OUTPUT = "MapOutput";
  private static final Getter HOST = new Getter("getHostName");
  private static final Getter MAP = new Getter("getMapId");

  @Override
  long of(Probe probe, Object host, Object map) throws Throwable {
    if (host == null) {
      return 0;
    }
    // What a MapHost calls its name is host:port.
    String peer = (String) HOST.of(host);
    int node = (int) Hooks.recorder.name(Schema.CATEGORY_SOCKET, peer);
    String name = "";
    if (map != null) {
      boolean output = map.getClass().getName().endsWith(MAP_OUTPUT);
      name = String.valueOf(output ? MAP.of(map) : map);
    }
    return Hooks.recorder.name(Schema.CATEGORY_SHUFFLE, name, node, -1, -1);
  }
}
