package io.iostrata.agent;

import io.iostrata.segment.Cause;
import java.nio.ByteBuffer;

/** A cause as the bytes that travel in headers: magic, trace, proc, span. */
final class Carrier {
  static final int SIZE = 28;
  private static final int MAGIC = 0x494F5354;

  private Carrier() {}

  static byte[] bytes(Cause cause) {
    ByteBuffer bytes = ByteBuffer.allocate(SIZE);
    return bytes.putInt(MAGIC).putLong(cause.trace).putLong(cause.proc).putLong(cause.span).array();
  }

  /**
   * Null when the bytes are none of ours.
   *
   * @param since when they were received, 0 when they are used at once
   */
  static Cause cause(byte[] bytes, long since) {
    if (bytes.length != SIZE) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(bytes);
    if (from.getInt() != MAGIC) {
      return null;
    }
    long trace = from.getLong();
    long proc = from.getLong();
    return new Cause(context(proc), trace, proc, from.getLong(), since);
  }

  /** Whom calls for a process belong to that did not say a client's name. */
  private static int context(long proc) {
    return Hooks.recorder.context("", "", "", "", "#" + Long.toHexString(proc));
  }
}
