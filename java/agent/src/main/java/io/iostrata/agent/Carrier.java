package io.iostrata.agent;

import io.iostrata.segment.Cause;
import io.iostrata.segment.Schema;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A cause as the bytes that travel in headers: magic, trace, proc, span, sampling; behind them the
 * name of the task where a process runs several. An agent that knows no names takes such bytes for
 * none of ours.
 */
final class Carrier {
  static final int SIZE = 32;

  /** Bytes of a task's name. */
  private static final int MOST_OF_TASK = 200;

  private static final int MAGIC = 0x494F5354;
  private static final byte[] NO_TASK = {};

  private Carrier() {}

  static byte[] bytes(Cause cause) {
    byte[] task = task(cause);
    ByteBuffer bytes = ByteBuffer.allocate(SIZE + task.length);
    return bytes
        .putInt(MAGIC)
        .putLong(cause.trace)
        .putLong(cause.proc)
        .putLong(cause.span)
        .putInt(cause.sampling)
        .put(task)
        .array();
  }

  private static byte[] task(Cause cause) {
    String task = TaskNames.of(cause.context);
    return task == null ? NO_TASK : task.getBytes(StandardCharsets.US_ASCII);
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
    if (bytes.length < SIZE || bytes.length > SIZE + MOST_OF_TASK) {
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
    String task = new String(bytes, SIZE, bytes.length - SIZE, StandardCharsets.US_ASCII);
    if (sampling < -Schema.CONTROL_ALL_REQUESTS
        || sampling > Schema.CONTROL_ALL_REQUESTS
        || !task.isEmpty() && !SparkTask.isName(task)) {
      return null;
    }
    return new Cause(context(proc, job, task), trace, proc, span, since, sampling);
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
    if (text == null
        || text.length() < 2 * SIZE
        || text.length() > 2 * (SIZE + MOST_OF_TASK)
        || text.length() % 2 != 0) {
      return null;
    }
    try {
      return cause(new BigInteger(text, 16).toByteArray(), 0, job);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** Whom calls for a process belong to that did not say a client's name. */
  private static int context(long proc, String job, String task) {
    String client = "#" + Long.toHexString(proc);
    return task.isEmpty()
        ? Hooks.recorder.context("", job, "", "", client)
        : TaskNames.context(task, client);
  }
}
