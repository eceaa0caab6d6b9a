package io.iostrata.segment;

import java.util.ArrayList;
import java.util.Arrays;

/** The logs that have a native thread, of threads that live as far as is known. */
final class LiveLogs {
  private final ArrayList<ThreadLog> logs = new ArrayList<>();

  /** Of those that were closed: what may still be used. */
  private final ArrayList<ThreadLog> closed = new ArrayList<>();

  private long[] handles = {};

  synchronized void add(ThreadLog log) {
    logs.add(log);
  }

  /** Its thread ends. */
  synchronized void end(ThreadLog log) {
    if (logs.remove(log)) {
      Native.endThread(log.close());
    }
  }

  /** Ends the logs of threads that have ended. */
  synchronized void endDead() {
    for (int i = logs.size() - 1; i >= 0; i--) {
      ThreadLog log = logs.get(i);
      if (!log.thread.isAlive()) {
        logs.set(i, logs.get(logs.size() - 1));
        logs.remove(logs.size() - 1);
        Native.endThread(log.close());
      }
    }
  }

  /** From here on no call begins to be recorded; those under way may still be. */
  synchronized void close() {
    int before = handles.length;
    handles = Arrays.copyOf(handles, before + logs.size());
    for (int i = 0; i < logs.size(); i++) {
      handles[before + i] = logs.get(i).close();
    }
    closed.addAll(logs);
    logs.clear();
  }

  /**
   * Some time after {@link #close}. What a thread uses even now stays as long as the process: to
   * free it could end the host.
   */
  synchronized void free() {
    for (int i = 0; i < handles.length; i++) {
      if (!closed.get(i).inside) {
        Native.endThread(handles[i]);
      }
    }
    closed.clear();
    handles = new long[0];
  }
}
