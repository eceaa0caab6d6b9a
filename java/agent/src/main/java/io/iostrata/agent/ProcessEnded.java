package io.iostrata.agent;

/** {@code ended()}: the last shutdown hook has run. */
final class ProcessEnded extends Extractor {
  @Override
  long of(Probe probe, Object unused, Object alsoUnused) {
    ControlWatch watch = ControlWatch.current;
    if (watch != null) {
      watch.endRecording();
    }
    Hooks.record(false);
    Hooks.recorder.close();
    return 0;
  }
}
