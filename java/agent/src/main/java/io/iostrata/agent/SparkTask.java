package io.iostrata.agent;

/**
 * {@code spark_task(description, executor)}: the attempt of a task that an executor runs now. A
 * TaskDescription is called "task 7.1 in stage 3.0 (TID 42)": index and attempt of both.
 */
final class SparkTask extends Extractor {
  private static final Getter NAME = new Getter("name");
  private static final FieldOf CONFIGURATION = new FieldOf("conf");
  private static final Getter APPLICATION = new Getter("getAppId");

  private static final String TASK = "task ";
  private static final String STAGE = " in stage ";

  @Override
  long of(Probe probe, Object description, Object executor) throws Throwable {
    String application = (String) APPLICATION.of(CONFIGURATION.of(executor));
    return context(application, (String) NAME.of(description));
  }

  private static int context(String application, String name) {
    String stage = stage(name);
    String task = application + "_" + stage.replace(' ', '_') + "_" + task(name).replace(' ', '_');
    return Hooks.recorder.context("", application, task, stage, "");
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
