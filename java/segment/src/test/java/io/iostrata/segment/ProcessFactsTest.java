package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessFactsTest {
  private static String text(String command, String run, String container) {
    String text = new ProcessFacts(command, run, container).text("1");
    return text.substring(0, text.indexOf("agent="));
  }

  @Test
  void aTaskKnowsItsAttemptAndJob() {
    assertThat(
            text(
                "org.apache.hadoop.mapred.YarnChild 127.0.0.1 41234"
                    + " attempt_1700000000000_0003_r_000001_2 7",
                "",
                "container_1700000000000_0003_01_000007"))
        .isEqualTo(
            "main=org.apache.hadoop.mapred.YarnChild\n"
                + "args=127.0.0.1 41234 attempt_1700000000000_0003_r_000001_2 7\n"
                + "attempt=attempt_1700000000000_0003_r_000001_2\n"
                + "job=job_1700000000000_0003\n"
                + "container=container_1700000000000_0003_01_000007\n");
  }

  @Test
  void anApplicationMasterKnowsItsJobFromItsContainer() {
    String main = "org.apache.hadoop.mapreduce.v2.app.MRAppMaster";
    assertThat(new ProcessFacts(main, "", "container_1700000000000_0003_01_000001").job)
        .isEqualTo("job_1700000000000_0003");
    // after a restart of the ResourceManager that kept its work
    assertThat(new ProcessFacts(main, "", "container_e17_1700000000000_0003_01_000001").job)
        .isEqualTo("job_1700000000000_0003");
    assertThat(new ProcessFacts(main, "", null).job).isEmpty();
  }

  @Test
  void anExecutorOfSparkKnowsItsApplication() {
    String main = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend";
    String options = " --driver-url spark://h:1 --executor-id 2 --app-id ";
    assertThat(new ProcessFacts(main + options + "application_17_3 --cores 1", "", null).job)
        .isEqualTo("application_17_3");
    assertThat(new ProcessFacts(main + " --executor-id 2", "", null).job).isEmpty();
  }

  @Test
  void otherCommandLines() {
    assertThat(text("tool.jar a\nb", "run-1", null))
        .isEqualTo("main=tool.jar\nargs=a b\nrun=run-1\n");
    assertThat(text("Main", "", null)).isEqualTo("main=Main\n");
    assertThat(text(null, "", null)).isEmpty();
    assertThat(text("Main " + "x".repeat(5000), "", null))
        .hasSize("main=Main\nargs=\n".length() + 2048);
    assertThat(text("org.apache.hadoop.mapred.YarnChild host", "", null))
        .isEqualTo("main=org.apache.hadoop.mapred.YarnChild\nargs=host\n");
  }
}
