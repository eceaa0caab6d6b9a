package io.iostrata.agent;

/** {@code ended()}: the last shutdown hook has run. */
final class ProcessEnded extends Extractor {
  @Override
  long of(Probe probe, Object unused, Object alsoUnused) {
    Hooks.record(false);
    Hooks.recorder.close();
    return 0;
  }
}
