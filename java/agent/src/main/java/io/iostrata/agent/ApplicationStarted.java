package io.iostrata.agent;

import io.iostrata.segment.ProcessFacts;

/** {@code application(id)}: this process works for the application from now on, as its driver. */
final class ApplicationStarted extends Extractor {
  @Override
  long of(Probe probe, Object id, Object unused) {
    ProcessFacts facts = ProcessFacts.current;
    if (id != null && facts != null) {
      facts.worksFor(Hooks.recorder, id.toString());
    }
    return 0;
  }
}
