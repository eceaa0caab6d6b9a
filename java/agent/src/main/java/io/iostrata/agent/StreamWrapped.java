package io.iostrata.agent;

/** {@code wraps(stream, inner)}: a stream of Hadoop's whose inner one java.io hides from us. */
final class StreamWrapped extends Extractor {
  static final WeakIdentities<Object> INNER = new WeakIdentities<>();

  @Override
  long of(Probe probe, Object stream, Object inner) {
    if (inner != null) {
      INNER.put(stream, inner);
    }
    return 0;
  }
}
