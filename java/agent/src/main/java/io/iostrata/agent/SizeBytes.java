package io.iostrata.agent;

/** What an object says of its own size: a number, of a method without arguments. */
final class SizeBytes extends Extractor {
  private final Getter size;

  SizeBytes(String method) {
    size = new Getter(method);
  }

  @Override
  long of(Probe probe, Object sized, Object unused) throws Throwable {
    return sized == null ? 0 : ((Number) size.of(sized)).longValue();
  }
}
