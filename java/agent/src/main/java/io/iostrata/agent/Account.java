package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.io.IOException;

/** What tracing costs this process, second by second, and what is only summed because of it. */
final class Account {
  private final Recorder recorder;

  /** The agent's own thread. */
  private final Thread own;

  private final Budget.Window window = new Budget.Window();
  private final Budget budget = new Budget();
  private final int[] secondsSummed = new int[Schema.PROCESS_MAX_POINTS];

  /** Since the process started, while something was recorded; ns. */
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
  private long atSlots;
  private final long[] atHooks = new long[Schema.PROCESS_MAX_POINTS];
  private final long[] atNanos = new long[Schema.PROCESS_MAX_POINTS];

  Account(Recorder recorder, Thread own) {
    this.recorder = recorder;
    this.own = own;
  }

  /**
   * A window ends and the next begins: once a second, when a recording begins, and when the process
   * ends.
   */
  synchronized void look(boolean records) throws IOException {
    if (!recording && !records) {
      return;
    }
    measure();
    if (recording) {
      add();
    } else {
      begin();
    }
    // Also at the begin: the page says from when on the first window counts.
    recorder.account(hooks, thread, collector, cpu, over);
    recording = records;
  }

  /** A recording begins; what an earlier one could not afford may be kept in this one. */
  private void begin() {
    if (recorder.budget() == 0) {
      choose();
    } else {
      recorder.allow(Budget.atFirst(recorder.budget(), recorder.eventCost()));
    }
  }

  /** What has come since the last look. */
  private void measure() throws IOException {
    long time = System.nanoTime();
    long nowCpu = recorder.cpu();
    long nowThread = Thread.currentThread() == own ? recorder.threadCpu() : atThread;
    long nowSlots = recorder.slots();
    window.wall = time - atTime;
    window.cpu = nowCpu - atCpu;
    window.thread = nowThread - atThread;
    window.slots = nowSlots - atSlots;
    window.eventCost = recorder.eventCost();
    atTime = time;
    atCpu = nowCpu;
    atThread = nowThread;
    atSlots = nowSlots;
    window.points = Costs.points();
    for (int i : window.points) {
      long nowHooks = Costs.hooks(i);
      long nowNanos = Costs.nanos(i);
      window.hooks[i] = nowHooks - atHooks[i];
      window.nanos[i] = nowNanos - atNanos[i];
      atHooks[i] = nowHooks;
      atNanos[i] = nowNanos;
    }
  }

  private void add() {
    hooks += window.hookNanos();
    thread += window.thread;
    collector += window.slots * window.eventCost;
    cpu += window.cpu;
    sayWhatWasSummed();
    choose();
    over += budget.over() ? window.wall : 0;
  }

  private void choose() {
    budget.choose(window, recorder.budget());
    recorder.allow(budget.allowed());
    for (int i : window.points) {
      recorder.summed(i, budget.summed(i));
    }
  }

  private void sayWhatWasSummed() {
    boolean usedUp = recorder.isUsedUp();
    for (int i : window.points) {
      boolean summed = budget.summed(i) || usedUp && Schema.summedUnderBudget(i);
      if (summed && window.hooks[i] != 0) {
        recorder.summedFor(i, ++secondsSummed[i]);
      }
    }
  }
}
