package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code job(id)}: this process submits the job. */
final class JobSubmitted extends Extractor {
  @Override
  long of(Probe probe, Object id, Object unused) {
    return id == null ? 0 : Hooks.recorder.name(Schema.CATEGORY_JOB, id.toString());
  }
}
