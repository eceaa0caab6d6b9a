package io.iostrata.agent;

/** {@code ended()}: the last shutdown hook has run. */
final class ProcessEnded extends Extractor {
  @Override
  long of(Probe probe, Object unused, Object alsoUnused) {
    RootSpan root = ControlWatch.current;
    if (root != null) {
      root.end();
    }
    Hooks.record(false);
    Hooks.recorder.close();
    return 0;
  }
}
