package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * {@code spill(buffer)}: the spill that a MapTask.MapOutputBuffer writes next; {@code spill()}:
 * what spills are merged into.
 */
final class SpillTarget extends Extractor {
  private static final FieldOf SPILLS = new FieldOf("numSpills");

  @Override
  long of(Probe probe, Object buffer, Object unused) throws Throwable {
    String name = buffer == null ? "merged" : "spill" + SPILLS.intOf(buffer) + ".out";
    return Hooks.recorder.name(Schema.CATEGORY_SPILL, name);
  }
}
