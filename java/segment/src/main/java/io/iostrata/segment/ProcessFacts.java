package io.iostrata.segment;

/** Who this process is, as its command line and environment say. */
public final class ProcessFacts {
  /** Of agent and tfs://. */
  public static final String VERSION = "0.1.0";

  /** Of this JVM; null before its recorder has been opened. */
  public static volatile ProcessFacts current;

  /** Variable that says of which of several programs of a recorded command a process is. */
  private static final String PART = "IOSTRATA_PART";

  private static final int MAX_PART = 64;
  private static final int MAX_ARGUMENTS = 2048;
  private static final String TASK_MAIN = "org.apache.hadoop.mapred.YarnChild";
  private static final String SPARK_EXECUTORS = "org.apache.spark.executor.";
  private static final String APPLICATION_MASTER = "org.apache.hadoop.mapreduce.v2.app.MRAppMaster";

  public final String main;
  public final String arguments;
  public final String run;
  public final String container;

  /** The attempt that this process runs; empty when it is no task. */
  public final String attempt;

  /** The job that it works for; empty when unknown. */
  public final String job;

  /**
   * @param command {@code sun.java.command}: main class or jar, then arguments; may be null
   * @param run given to the agent; empty when none
   * @param container {@code CONTAINER_ID} of YARN; may be null
   */
  public ProcessFacts(String command, String run, String container) {
    String line = command == null ? "" : command;
    int space = line.indexOf(' ');
    this.main = space < 0 ? line : line.substring(0, space);
    this.arguments = space < 0 ? "" : line.substring(space + 1);
    this.run = run;
    this.container = container == null ? "" : container;
    // YarnChild host port attempt id
    this.attempt = main.equals(TASK_MAIN) ? word(arguments, 2) : "";
    this.job = job(main, attempt, this.container, arguments);
  }

  private static String job(String main, String attempt, String container, String arguments) {
    if (main.startsWith(SPARK_EXECUTORS)) {
      return after(arguments, "--app-id ");
    }
    if (attempt.startsWith("attempt_")) {
      // attempt_CLUSTER_JOB_m_TASK_ATTEMPT
      return "job_" + part(attempt, 1) + "_" + part(attempt, 2);
    }
    if (main.equals(APPLICATION_MASTER) && container.startsWith("container_")) {
      // container_[eEPOCH_]CLUSTER_APPLICATION_ATTEMPT_ID
      int first = container.startsWith("container_e") ? 2 : 1;
      return "job_" + part(container, first) + "_" + part(container, first + 1);
    }
    return "";
  }

  /** The word behind an option; empty when it is not there. */
  private static String after(String text, String option) {
    int at = text.indexOf(option);
    return at < 0 ? "" : word(text.substring(at + option.length()), 0);
  }

  private static String word(String text, int number) {
    return piece(text, ' ', number);
  }

  private static String part(String text, int number) {
    return piece(text, '_', number);
  }

  /** Empty when there are not so many. */
  private static String piece(String text, char separator, int number) {
    int at = 0;
    for (int i = 0; i < number; i++) {
      at = text.indexOf(separator, at) + 1;
      if (at == 0) {
        return "";
      }
    }
    int end = text.indexOf(separator, at);
    return end < 0 ? text.substring(at) : text.substring(at, end);
  }

  /**
   * Lines key=value for the process page.
   *
   * @param agent what traces it, and its version
   */
  public String text(String agent) {
    StringBuilder text = new StringBuilder(512);
    line(text, "main", main);
    line(text, "args", first(arguments, MAX_ARGUMENTS));
    line(text, "run", run);
    line(text, "attempt", attempt);
    line(text, "job", job);
    line(text, "container", container);
    line(text, "part", first(System.getenv(PART), MAX_PART));
    line(text, "agent", agent);
    line(text, "jvm", System.getProperty("java.version"));
    line(text, "user", System.getProperty("user.name"));
    return text.toString();
  }

  /** So many characters of it at most. */
  private static String first(String text, int most) {
    return text == null || text.length() <= most ? text : text.substring(0, most);
  }

  private static void line(StringBuilder text, String key, String value) {
    if (value != null && !value.isEmpty()) {
      String oneLine = value.replace('\n', ' ').replace('\r', ' ');
      text.append(key).append('=').append(oneLine).append('\n');
    }
  }

  /** The context of all calls of this process from now on. */
  public void reach(Recorder recorder, String phase) {
    if (!run.isEmpty() || !job.isEmpty()) {
      recorder.processContext(recorder.context(run, job, attempt, phase, ""));
    }
  }

  /** The same: they are of this job, as far as nobody says otherwise. */
  public void worksFor(Recorder recorder, String application) {
    recorder.processContext(recorder.context(run, application, "", "", ""));
  }
}
