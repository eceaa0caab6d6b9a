package io.iostrata.agent;

import io.iostrata.segment.Cause;
import io.iostrata.segment.Schema;
import java.math.BigInteger;
import java.nio.ByteBuffer;

/** A cause as the bytes that travel in headers: magic, trace, proc, span, sampling. */
final class Carrier {
  static final int SIZE = 32;
  private static final int MAGIC = 0x494F5354;

  private Carrier() {}

  static byte[] bytes(Cause cause) {
    ByteBuffer bytes = ByteBuffer.allocate(SIZE);
    return bytes
        .putInt(MAGIC)
        .putLong(cause.trace)
        .putLong(cause.proc)
        .putLong(cause.span)
        .putInt(cause.sampling)
        .array();
  }

  /**
   * Null when the bytes are none of ours.
   *
   * @param since when they were received, 0 when they are used at once
   */
  static Cause cause(byte[] bytes, long since) {
    return cause(bytes, since, "");
  }

  private static Cause cause(byte[] bytes, long since, String job) {
    if (bytes.length != SIZE) {
      return null;
    }
    ByteBuffer from = ByteBuffer.wrap(bytes);
    if (from.getInt() != MAGIC) {
      return null;
    }
    long trace = from.getLong();
    long proc = from.getLong();
    long span = from.getLong();
    int sampling = from.getInt();
    if (sampling < -Schema.CONTROL_ALL_REQUESTS || sampling > Schema.CONTROL_ALL_REQUESTS) {
      return null;
    }
    return new Cause(context(proc, job), trace, proc, span, since, sampling);
  }

  /** The same for headers that are text: hexadecimal digits. */
  static String text(Cause cause) {
    return new BigInteger(1, bytes(cause)).toString(16);
  }

  /**
   * Null when the text is none of ours.
   *
   * @param job whose work it is where nobody here knows the process
   */
  static Cause cause(String text, String job) {
    if (text == null || text.length() != 2 * SIZE) {
      return null;
    }
    try {
      return cause(new BigInteger(text, 16).toByteArray(), 0, job);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** Whom calls for a process belong to that did not say a client's name. */
  private static int context(long proc, String job) {
    return Hooks.recorder.context("", job, "", "", "#" + Long.toHexString(proc));
  }
}
