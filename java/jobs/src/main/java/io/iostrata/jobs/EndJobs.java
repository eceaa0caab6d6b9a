package io.iostrata.jobs;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.exceptions.YarnException;

/** {@code end TAG}: ends the applications that have it and still go on, and prints their names. */
public final class EndJobs {
  private static final EnumSet<YarnApplicationState> GOING_ON =
      EnumSet.of(
          YarnApplicationState.NEW,
          YarnApplicationState.NEW_SAVING,
          YarnApplicationState.SUBMITTED,
          YarnApplicationState.ACCEPTED,
          YarnApplicationState.RUNNING);

  private EndJobs() {}

  public static void main(String[] arguments) throws IOException, YarnException {
    try (YarnClient yarn = YarnClient.createYarnClient()) {
      yarn.init(new Configuration());
      yarn.start();
      for (ApplicationReport application : yarn.getApplications(GOING_ON)) {
        if (application.getApplicationTags().contains(arguments[0])) {
          yarn.killApplication(application.getApplicationId());
          System.out.println(application.getApplicationId());
        }
      }
    }
  }
}
