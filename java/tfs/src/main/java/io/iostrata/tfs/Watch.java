package io.iostrata.tfs;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.SystemThreads;

/** A thread that does what the collector's control page says, five times a second. */
final class Watch extends Thread {
  private static final long PERIOD_MILLIS = 200;
  private static final int PERIODS_PER_SECOND = 5;

  private final Recorder recorder;
  private final Tracer tracer;
  private final Account account;
  private int seen;
  private boolean records;
  private volatile boolean ended;

  Watch(Recorder recorder, Tracer tracer) {
    super(SystemThreads.group(), "iostrata-tfs");
    this.recorder = recorder;
    this.tracer = tracer;
    account = new Account(recorder, tracer.calls, this);
    setDaemon(true);
    setContextClassLoader(null);
  }

  /** Reads the page and acts. */
  synchronized void look() {
    int word = recorder.controlWord();
    if (word == seen) {
      return;
    }
    recorder.follow();
    follow(word != 0 && !isAgentHere());
    seen = word;
    recorder.acknowledge(word);
  }

  private void follow(boolean wanted) {
    account.look(wanted);
    if (wanted) {
      recorder.beginRecording();
    }
    tracer.record(wanted);
    records = wanted;
  }

  /** An agent sees what tfs:// sees and more: the same bytes are not to be counted twice. */
  private boolean isAgentHere() {
    return SystemThreads.agent() != null;
  }

  @Override
  public void run() {
    for (int period = 1; !ended; period++) {
      try {
        Thread.sleep(PERIOD_MILLIS);
        look();
        if (period % PERIODS_PER_SECOND == 0) {
          everySecond();
        }
      } catch (Throwable e) {
        // An interrupt meant for somebody else, or no memory: look again next time.
      }
    }
  }

  private synchronized void everySecond() {
    if (seen != 0 && !ended) {
      boolean wanted = !isAgentHere();
      if (wanted != records) {
        follow(wanted); // an agent has come or gone
      } else {
        account.look(wanted);
      }
    }
    recorder.sealDeadThreads();
  }

  /** The process ends. */
  synchronized void end() {
    ended = true;
    account.look(false);
    recorder.close();
  }
}
