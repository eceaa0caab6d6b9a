package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;

/** Sets the hooks up in the JVM of the tests, as the agent does in a traced one. */
final class HooksForTests {
  private HooksForTests() {}

  static void begin(Recorder recorder, PointTable table) {
    for (int point = 0; point < Schema.PROCESS_MAX_POINTS; point++) {
      Hooks.OFF[point] = 0;
      Hooks.REPORTED[point] = false;
    }
    Hooks.install(table);
    Hooks.recorder = recorder;
    Hooks.record(true);
  }

  static void target(int point, Extractor extractor) {
    Hooks.TARGETS[point] = extractor;
  }

  static void end() {
    Hooks.record(false);
  }
}
