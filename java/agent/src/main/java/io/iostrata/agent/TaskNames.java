package io.iostrata.agent;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Contexts that are of one task among several of a process, by their dictionary id: an executor of
 * Spark runs tasks side by side under one client's name, so what it asks of a NameNode or DataNode
 * says the task, too.
 */
final class TaskNames {
  /** Tasks that are remembered: a driver that runs tasks itself may run millions. */
  private static final int MOST = 10_000;

  private static final ConcurrentHashMap<Integer, String> NAMES = new ConcurrentHashMap<>();

  private TaskNames() {}

  /** The task of a context; null when it is of none of these. */
  static String of(int context) {
    return context == 0 || NAMES.isEmpty() ? null : NAMES.get(context);
  }

  /**
   * The context of a task attempt.
   *
   * @param task APPLICATION_stage_ID.ATTEMPT_task_INDEX.ATTEMPT
   * @param client who calls for it; empty: it runs here
   */
  static int context(String task, String client) {
    int application = task.indexOf(SparkTask.IN_NAME);
    int phase = application + 1;
    int end = task.indexOf("_task_", phase);
    String stage = task.substring(phase, end).replace('_', ' ');
    int context = Hooks.recorder.context("", task.substring(0, application), task, stage, client);
    if (context != 0) {
      if (NAMES.size() >= MOST) {
        NAMES.clear(); // what goes on under these is said without its task
      }
      NAMES.put(context, task);
    }
    return context;
  }

  static void forget() {
    NAMES.clear();
  }
}
