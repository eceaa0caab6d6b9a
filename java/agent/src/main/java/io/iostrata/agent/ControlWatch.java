package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;

/** The agent's own thread: does what the control page says, five times a second. */
final class ControlWatch extends Thread {
  private static final long PERIOD_MILLIS = 200;
  private static final int PERIODS_PER_SEAL = 5;

  /** Of this JVM; null before the agent has started. */
  static volatile RootSpan current;

  private final Recorder recorder;
  private final RootSpan root;
  private int seen;

  ControlWatch(Recorder recorder) {
    super(systemGroup(), "iostrata");
    this.recorder = recorder;
    root = new RootSpan(recorder);
    current = root;
    setDaemon(true);
    // The application's loader must not be kept alive by us.
    setContextClassLoader(null);
  }

  /** Programs list and interrupt the threads of their own group: ours is none of them. */
  private static ThreadGroup systemGroup() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }

  /** Reads the page and acts; true when a run is being recorded. */
  boolean look() {
    int word = recorder.controlWord();
    if (word != seen) {
      for (int point = 0; point < Schema.PROCESS_MAX_POINTS; point++) {
        Hooks.switchPoint(point, recorder.pointOff(point));
      }
      recorder.follow();
      Hooks.record(word != 0);
      seen = word;
      recorder.acknowledge(word);
    }
    return word != 0;
  }

  @Override
  public void run() {
    Probe.current().busy = true;
    for (int period = 1; ; period++) {
      try {
        root.follow(seen != 0);
        Thread.sleep(PERIOD_MILLIS);
        look();
        if (period % PERIODS_PER_SEAL == 0) {
          Hooks.reportFaults();
          recorder.sealDeadThreads();
        }
      } catch (Throwable e) {
        // An interrupt meant for somebody else, or no memory: look again next time.
      }
    }
  }
}
