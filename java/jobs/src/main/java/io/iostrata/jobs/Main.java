package io.iostrata.jobs;

import io.iostrata.jobs.requests.Requests;
import io.iostrata.jobs.swim.History;
import io.iostrata.jobs.swim.Inputs;
import io.iostrata.jobs.swim.Replay;
import io.iostrata.jobs.tfidf.Tfidf;
import org.apache.hadoop.util.ProgramDriver;

/** What iostrata runs on clusters, by name: {@code hadoop jar iostrata-jobs.jar NAME ARGUMENTS}. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Throwable {
    ProgramDriver programs = new ProgramDriver();
    programs.addClass("facts", ClusterFacts.class, "prints what the cluster has, as JSON");
    programs.addClass("exists", Exists.class, "prints whether HDFS has a path");
    programs.addClass("end", EndJobs.class, "ends the applications with a tag");
    programs.addClass("swim-history", History.class, "prints what the history of jobs says");
    programs.addClass("identity", Identity.class, "maps and reduces to what it reads");
    programs.addClass("swim-inputs", Inputs.class, "writes the inputs of a plan of jobs");
    programs.addClass("swim-replay", Replay.class, "submits the jobs of a plan at their times");
    programs.addClass("requests", Requests.class, "sends requests to HDFS in an open loop");
    programs.addClass("tfidf", Tfidf.class, "classifies HTTP requests with a model in HDFS");
    System.exit(programs.run(arguments));
  }
}
