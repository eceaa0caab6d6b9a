package io.iostrata.agent;

/** {@code result(value)}: bytes that an asynchronous call has moved, for the call around it. */
final class ResultBytes extends Extractor {
  @Override
  long of(Probe probe, Object value, Object unused) {
    return value instanceof Integer ? (Integer) value : 0;
  }
}
