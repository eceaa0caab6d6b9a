package io.iostrata.segment;

import java.util.concurrent.Callable;

/** Threads of ours in a JVM, whatever version and class loader they are of. */
public final class SystemThreads {
  private static final int MAX_THREADS = 4096;
  private static final String WATCH = ".agent.ControlWatch";

  private SystemThreads() {}

  /** Programs list and interrupt the threads of their own group: ours are none of them. */
  public static ThreadGroup group() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }

  /**
   * The thread of the agent in this JVM, whatever its version, a Callable; null when none lives. A
   * thread is what all versions see of each other without leaving a mark in the properties of the
   * host.
   */
  public static Thread agent() {
    ThreadGroup group = group();
    Thread[] threads = new Thread[Math.min(MAX_THREADS, group.activeCount() * 2 + 16)];
    int count = group.enumerate(threads, false);
    for (int i = 0; i < count; i++) {
      Class<?> type = threads[i].getClass();
      // Not by the whole name: the jar's own is another in each version.
      boolean ours = type.getClassLoader() == null && type.getName().endsWith(WATCH);
      if (ours && threads[i] instanceof Callable) {
        return threads[i];
      }
    }
    return null;
  }
}
