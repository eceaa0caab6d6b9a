package io.iostrata.agent;

import io.iostrata.segment.ProcessFacts;
import java.util.Locale;

/** {@code phase(phase)}: the task of this process has reached a phase of TaskStatus.Phase. */
final class TaskPhase extends Extractor {
  @Override
  long of(Probe probe, Object phase, Object unused) {
    ProcessFacts facts = ProcessFacts.current;
    if (phase != null && facts != null) {
      facts.reach(Hooks.recorder, phase.toString().toLowerCase(Locale.ROOT));
    }
    return 0;
  }
}
