package io.iostrata.agent;

/**
 * {@code works_for(name)}: what follows is done for the job whose id stands in a name: that of an
 * attempt, or a path below the working directory of an application.
 */
final class JobContext extends Extractor {
  private static final String[] PREFIXES = {"attempt_", "application_"};

  @Override
  long of(Probe probe, Object name, Object unused) {
    return context(name);
  }

  /** 0 when the name, which may be null, names no job. */
  static int context(Object name) {
    String job = name == null ? "" : job(name.toString());
    return job.isEmpty() ? 0 : Hooks.recorder.context("", job, "", "", "");
  }

  /** job_CLUSTER_NUMBER; empty when the text names none. */
  static String job(String text) {
    for (String prefix : PREFIXES) {
      int at = text.indexOf(prefix);
      if (at >= 0) {
        int cluster = at + prefix.length();
        int number = text.indexOf('_', cluster) + 1;
        int end = number;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
          end++;
        }
        if (number > 0 && end > number) {
          return "job_" + text.substring(cluster, end);
        }
      }
    }
    return "";
  }
}
