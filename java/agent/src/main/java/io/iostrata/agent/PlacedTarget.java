package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.util.Collection;

/**
 * {@code placed(attempt)}: how near its input a TaskAttemptImpl of an ApplicationMaster runs, and
 * its name: {@code data-local/attempt_1_0001_m_000000_0}.
 */
final class PlacedTarget extends Extractor {
  private static final FieldOf ATTEMPT = new FieldOf("attemptId");
  private static final FieldOf HOSTS = new FieldOf("dataLocalHosts");
  private static final FieldOf LOCALITY = new FieldOf("locality");

  @Override
  long of(Probe probe, Object attempt, Object unused) throws Throwable {
    boolean isAsked = !((Collection<?>) HOSTS.of(attempt)).isEmpty();
    String near = isAsked ? near(String.valueOf(LOCALITY.of(attempt))) : "anywhere";
    return Hooks.recorder.name(Schema.CATEGORY_UNKNOWN, near + "/" + ATTEMPT.of(attempt));
  }

  /** By the names of YARN's Locality. */
  private static String near(String locality) {
    switch (locality) {
      case "NODE_LOCAL":
        return "data-local";
      case "RACK_LOCAL":
        return "rack-local";
      default:
        return "remote";
    }
  }
}
