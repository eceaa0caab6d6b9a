package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.SystemThreads;
import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * The agent's own thread: does what the control page says, five times a second. To agents of other
 * versions it is a {@link Callable} that ends this one.
 */
final class ControlWatch extends Thread implements Callable<String> {
  private static final long PERIOD_MILLIS = 200;
  private static final int PERIODS_PER_SEAL = 5;
  private static final long END_MILLIS = 5_000;

  /** Of this JVM; null before the agent has started. */
  static volatile ControlWatch current;

  private final Recorder recorder;
  private final Session session;
  private final UserPoints userPoints;
  private final RootSpan root;

  /** Null after a fault in it. */
  private Account account;

  private int seen;

  /** Points that count records have just been woven in. */
  private boolean recordsAreNew;

  private volatile boolean ended;

  ControlWatch(Recorder recorder, Session session) {
    super(SystemThreads.group(), "iostrata");
    this.recorder = recorder;
    this.session = session;
    userPoints = new UserPoints(recorder, session.loader(), session.classes());
    root = new RootSpan(recorder);
    account = new Account(recorder, this);
    current = this;
    setDaemon(true);
    // The application's loader must not be kept alive by us.
    setContextClassLoader(null);
  }

  /** Reads the page and acts; true when a run is being recorded. */
  boolean look() {
    int word = recorder.controlWord();
    if (word != seen) {
      // First: calls may begin as soon as recording does.
      userPoints.follow(word != 0);
      followLevel(word != 0);
      for (int point = 0; point < Schema.PROCESS_MAX_POINTS; point++) {
        Hooks.switchPoint(point, recorder.isOff(point) || userPoints.isOut(point));
      }
      recorder.follow();
      account(word != 0);
      Hooks.record(word != 0);
      seen = word;
      recorder.acknowledge(word);
    }
    return word != 0;
  }

  /** While nothing is recorded, what is woven stays: the next run may ask for the same. */
  private void followLevel(boolean recording) {
    boolean wanted = recorder.countsRecords();
    if (recording && wanted != session.loader().countsRecords()) {
      session.loader().countRecords(session.classes(), wanted);
      recordsAreNew = wanted;
    }
  }

  /** A class may have been loaded while the level changed. */
  private void weaveLate() {
    if (recordsAreNew) {
      recordsAreNew = false;
      session.loader().countRecords(session.classes(), true);
    }
  }

  @Override
  public void run() {
    Probe.current().busy = true;
    for (int period = 1; !ended; period++) {
      try {
        root.follow(seen != 0);
        Thread.sleep(PERIOD_MILLIS);
        if (ended) {
          return;
        }
        look();
        if (period % PERIODS_PER_SEAL == 0) {
          Hooks.reportFaults();
          weaveLate();
          Probe.forgetMet();
          PassingStreams.forget();
          recorder.sealDeadThreads();
          account(seen != 0);
        }
      } catch (Throwable e) {
        // An interrupt meant for somebody else, or no memory: look again next time.
      }
    }
  }

  /** Ends the agent in this JVM; key=value lines of what came of it. */
  @Override
  public String call() throws Exception {
    return session.end();
  }

  /** Ends the thread; what it does now is done first. */
  void end() throws InterruptedException {
    ended = true;
    interrupt();
    join(END_MILLIS);
  }

  /** Nothing more is recorded: the process ends, or the agent has been taken out. */
  void endRecording() {
    root.end();
    account(false);
    current = null;
  }

  /** Without /proc nothing is known of what tracing costs, and all is kept. */
  private void account(boolean records) {
    recorder.lookAtKernel(records);
    try {
      if (account != null) {
        account.look(records);
      }
    } catch (IOException e) {
      // said by the process page, which has no CPU time then
    } catch (Throwable e) {
      account = null; // the end of the process must still be reported
      recorder.complain("account of costs: " + e);
    }
  }
}
