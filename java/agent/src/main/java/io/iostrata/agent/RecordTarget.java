package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code records()}: records of MapReduce, all of them. */
final class RecordTarget extends Extractor {
  private static final long UNKNOWN = 0;

  /** The same whichever thread asks first. */
  private volatile long handle = UNKNOWN;

  @Override
  long of(Probe probe, Object unused, Object alsoUnused) {
    long known = handle;
    if (known == UNKNOWN) {
      known = Hooks.recorder.name(Schema.CATEGORY_RECORD, "");
      handle = known;
    }
    return known;
  }
}
