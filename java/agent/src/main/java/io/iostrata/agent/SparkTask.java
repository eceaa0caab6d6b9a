package io.iostrata.agent;

import java.util.regex.Pattern;

/**
 * {@code spark_task(description, executor)}: the attempt of a task that an executor runs now. A
 * TaskDescription is called "task 7.1 in stage 3.0 (TID 42)": index and attempt of both.
 */
final class SparkTask extends Extractor {
  private static final Getter NAME = new Getter("name");
  private static final FieldOf CONFIGURATION = new FieldOf("conf");
  private static final Getter APPLICATION = new Getter("getAppId");

  /** Behind the application in the name of an attempt. */
  static final String IN_NAME = "_stage_";

  private static final Pattern NAME_OF =
      Pattern.compile(
          "[A-Za-z0-9_.-]{1,100}_stage_[0-9]{1,10}\\.[0-9]{1,10}_task_[0-9]{1,10}\\.[0-9]{1,10}");

  private static final String TASK = "task ";
  private static final String STAGE = " in stage ";

  @Override
  long of(Probe probe, Object description, Object executor) throws Throwable {
    String application = (String) APPLICATION.of(CONFIGURATION.of(executor));
    return TaskNames.context(name(application, (String) NAME.of(description)), "");
  }

  /** APPLICATION_stage_3.0_task_7.1. */
  static String name(String application, String name) {
    return (application + "_" + stage(name) + "_" + task(name)).replace(' ', '_');
  }

  /**
   * Whether that is the name of an attempt, whoever says so: bytes of a peer may be anything. Other
   * letters than these stand in no name that a cluster manager gives.
   */
  static boolean isName(String text) {
    return NAME_OF.matcher(text).matches();
  }

  /** {@code task INDEX.ATTEMPT}. */
  static String task(String name) {
    return name.substring(name.indexOf(TASK), name.indexOf(STAGE));
  }

  /** {@code stage ID.ATTEMPT}. */
  static String stage(String name) {
    int at = name.indexOf(STAGE) + " in ".length();
    int end = name.indexOf(' ', at + "stage ".length());
    return name.substring(at, end < 0 ? name.length() : end);
  }
}
