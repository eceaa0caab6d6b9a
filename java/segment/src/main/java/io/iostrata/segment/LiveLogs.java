package io.iostrata.segment;

import java.util.ArrayList;

/** The logs that have a segment, of threads that live as far as is known. */
final class LiveLogs {
  private final ArrayList<ThreadLog> logs = new ArrayList<>();

  /** Slots of threads that have ended. */
  private long endedSlots;

  synchronized void add(ThreadLog log) {
    logs.add(log);
  }

  /** Its thread ends. */
  synchronized void end(ThreadLog log) {
    if (logs.remove(log)) {
      ended(log);
    }
  }

  /** Ends the logs of threads that have ended. */
  synchronized void endDead() {
    for (int i = logs.size() - 1; i >= 0; i--) {
      ThreadLog log = logs.get(i);
      if (!log.thread.isAlive()) {
        ended(log);
        logs.set(i, logs.get(logs.size() - 1));
        logs.remove(logs.size() - 1);
      }
    }
  }

  /** Nothing is recorded from here on; {@code release}: the process goes on without us. */
  synchronized void endAll(boolean release) {
    for (int i = 0; i < logs.size(); i++) {
      logs.get(i).endWithProcess();
      if (release) {
        logs.get(i).release();
      }
    }
    logs.clear();
  }

  /** Slots written so far. */
  synchronized long slots() {
    long slots = endedSlots;
    for (int i = 0; i < logs.size(); i++) {
      slots += logs.get(i).slots();
    }
    return slots;
  }

  private void ended(ThreadLog log) {
    log.end();
    endedSlots += log.slots();
  }
}
