package io.iostrata.agent;

/** {@code chunk(ret)}: what is left to read in a buffer of Netty, which is 3 or 4; null is none. */
final class ChunkBytes extends Extractor {
  private static final Getter READABLE = new Getter("readableBytes");

  @Override
  long of(Probe probe, Object buffer, Object unused) throws Throwable {
    return buffer == null ? 0 : (Integer) READABLE.of(buffer);
  }
}
