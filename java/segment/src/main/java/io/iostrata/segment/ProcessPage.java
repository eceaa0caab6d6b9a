package io.iostrata.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/** The page `process`: who the process is, what it lost. Any thread may write. */
final class ProcessPage {
  private static final int READY = 1;
  private static final int ENDED = 2;
  private static final int DETACHED = 3;
  private static final int FAULTS_OF_POINT = 4;
  private static final int COUNTERS = (Schema.PROCESS_POINTS - Schema.PROCESS_COUNTERS) / 8;

  /** Shared, until {@link #detached}. */
  private volatile ByteBuffer memory;

  /** Not an AtomicLongArray: its handles cost a starting JVM milliseconds. */
  private final AtomicLong[] counters = new AtomicLong[COUNTERS];

  ProcessPage(Path directory, Recorder.Options options, long start) throws IOException {
    MappedByteBuffer memory =
        options.files.create(directory.resolve("process").toString(), Schema.PROCESS_SIZE);
    this.memory = memory;
    for (int i = 0; i < COUNTERS; i++) {
      counters[i] = new AtomicLong();
    }
    memory.order(ByteOrder.LITTLE_ENDIAN);
    MappedFile.preamble(memory, Schema.FILE_KIND_PROCESS);
    memory.putLong(Schema.PROCESS_PROC, options.proc);
    memory.putInt(Schema.PROCESS_PID, options.pid);
    memory.putInt(Schema.PROCESS_UID, options.uid);
    memory.putLong(Schema.PROCESS_PID_START, options.pidStart);
    memory.putLong(Schema.PROCESS_START, start);
    memory.putLong(Schema.PROCESS_POINTS_HASH, options.pointsHash);
    byte[] text = Dictionary.utf8(options.text, Schema.PROCESS_TEXT_CAPACITY);
    memory.putInt(Schema.PROCESS_TEXT_SIZE, text.length);
    for (int i = 0; i < text.length; i++) {
      memory.put(Schema.PROCESS_TEXT + i, text[i]);
    }
  }

  void ready() {
    state(READY);
  }

  void ended() {
    flush();
    state(ENDED);
  }

  /** The collector may take the files away; what comes late goes nowhere. */
  void detached() {
    flush();
    state(DETACHED);
    memory = ByteBuffer.allocate(Schema.PROCESS_SIZE);
  }

  private void state(int state) {
    Fence.release();
    memory.putInt(Schema.PROCESS_STATE, state);
  }

  void acknowledge(int word) {
    Fence.release();
    memory.putInt(Schema.PROCESS_SEEN_CONTROL, word);
  }

  void count(int counter, long add) {
    long sum = counters[counter].addAndGet(add);
    memory.putLong(Schema.PROCESS_COUNTERS + counter * 8, sum);
  }

  /** Two threads may have stored their sums in the wrong order; this stores the last ones. */
  void flush() {
    for (int i = 0; i < COUNTERS; i++) {
      long sum = counters[i].get();
      if (sum != 0) {
        memory.putLong(Schema.PROCESS_COUNTERS + i * 8, sum);
      }
    }
  }

  void pointState(int point, int state) {
    if (point >= 0 && point < Schema.PROCESS_MAX_POINTS) {
      memory.put(Schema.PROCESS_POINTS + point * 8, (byte) state);
    }
  }

  /** Stores one of the costs. */
  void cost(int at, long nanos) {
    memory.putLong(at, nanos);
  }

  void summed(int point, int seconds) {
    short said = (short) Math.min(seconds, 0xFFFF);
    memory.putShort(Schema.PROCESS_POINTS + point * 8 + Schema.PROCESS_POINT_SUMMED, said);
  }

  synchronized void fault(int point) {
    if (point >= 0 && point < Schema.PROCESS_MAX_POINTS) {
      int at = Schema.PROCESS_POINTS + point * 8;
      memory.putInt(at + FAULTS_OF_POINT, memory.getInt(at + FAULTS_OF_POINT) + 1);
      memory.put(at, (byte) Schema.POINT_STATE_FAULTED);
    }
  }
}
