package io.iostrata.tfs;

import io.iostrata.segment.Recorder;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/**
 * What tracing costs this process, second by second, and how many calls are recorded individually
 * because of it: as {@code rust/preload/src/session.rs}, since neither can time its own calls.
 */
final class Account {
  /** ns of a call beside the real one, and what it costs more recorded: by the first compiler. */
  private static final long CALL_NANOS = 170;

  private static final long KEPT_NANOS = 190;

  /** Of one core, a share that counts as used even if it is not. */
  private static final double LEAST_CPU = 0.1;

  private static final double MILLIONTHS = 1e6;
  private static final long SECOND = 1_000_000_000;

  private final Recorder recorder;
  private final LongAdder calls;

  /** Whose CPU time is ours. */
  private final Thread own;

  // Since the process started, while something was recorded; ns.
  private long hooks;
  private long thread;
  private long collector;
  private long cpu;
  private long over;

  // When it was last looked, and what stood then.
  private boolean recording;
  private long atTime;
  private long atCpu;
  private long atThread;
  private long atCalls;
  private long atSlots;

  Account(Recorder recorder, LongAdder calls, Thread own) {
    this.recorder = recorder;
    this.calls = calls;
    this.own = own;
  }

  /** A window ends, and the next begins if {@code records}. Never throws. */
  void look(boolean records) {
    if (recording || records) {
      recorder.lookAtKernel(records);
      try {
        measure(records);
      } catch (IOException e) {
        recorder.allow(recorder.budget() == 0 ? -1 : 0); // without /proc nothing is known
      }
    }
    recording = records;
  }

  private void measure(boolean records) throws IOException {
    long time = System.nanoTime();
    long nowCpu = recorder.cpu();
    long nowThread = Thread.currentThread() == own ? recorder.threadCpu() : atThread;
    long nowCalls = calls.sum();
    long slots = recorder.slots();
    long wall = recording ? time - atTime : SECOND;
    long cost = 0;
    long used = 0;
    if (recording) {
      long kept = slots - atSlots;
      cost = (nowCalls - atCalls) * CALL_NANOS + kept * KEPT_NANOS;
      used = nowCpu - atCpu;
      hooks += cost;
      thread += nowThread - atThread;
      collector += kept * recorder.eventCost();
      cpu += used;
    }
    allow(used, cost, wall);
    recorder.account(hooks, thread, collector, cpu, over);
    atTime = time;
    atCpu = nowCpu;
    atThread = nowThread;
    atCalls = nowCalls;
    atSlots = slots;
  }

  /** A share of what the process takes, less what its calls cost even if they are only summed. */
  private void allow(long used, long cost, long wall) {
    if (recorder.budget() == 0) {
      recorder.allow(-1);
      return;
    }
    double whole = Math.max(used, LEAST_CPU * wall) * recorder.budget() / MILLIONTHS;
    double left = Math.max(0, whole - cost);
    recorder.allow((long) (left / (KEPT_NANOS + recorder.eventCost())));
    over += recording && cost > whole ? wall : 0;
  }
}
