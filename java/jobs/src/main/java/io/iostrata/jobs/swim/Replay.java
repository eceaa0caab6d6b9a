package io.iostrata.jobs.swim;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code swim-replay PLAN FOLDER OUTCOMES}: submits each job at its time, from one JVM, waits for
 * all, and writes a line for each (see {@link Outcome}). A job that fails does not hold others up.
 */
public final class Replay extends Configured implements Tool {
  // A submission takes up to seconds: as many go on at once as come within that time.
  private static final int SUBMITTERS = 32;
  private static final int WATCHERS = 8;
  private static final long LEAD = 5_000; // ms before its time that a job is made ready
  // An ApplicationMaster answers for 5 s more: after that, counters are those of a history server.
  private static final long POLL = 1_000; // ms

  private final ScheduledExecutorService submitters = Executors.newScheduledThreadPool(SUBMITTERS);
  private final ScheduledExecutorService watchers = Executors.newScheduledThreadPool(WATCHERS);
  private Path folder;
  private PrintWriter outcomes;
  private CountDownLatch running;
  private long start; // of System.nanoTime
  private long startTime; // ms of the epoch

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Replay(), arguments));
  }

  @Override
  public int run(String[] arguments) throws IOException, InterruptedException {
    List<PlannedJob> jobs = PlannedJob.read(arguments[0]);
    folder = new Path(arguments[1]);
    running = new CountDownLatch(jobs.size());
    warmUp(jobs.get(0));
    try (PrintWriter out = new PrintWriter(arguments[2], "UTF-8")) {
      outcomes = out;
      start = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAD);
      startTime = System.currentTimeMillis() + LEAD;
      for (PlannedJob planned : jobs) {
        submitters.schedule(
            () -> makeReady(planned), untilNanos(planned.at - LEAD), TimeUnit.NANOSECONDS);
      }
      running.await();
    }
    submitters.shutdown();
    watchers.shutdown();
    return 0;
  }

  /** What the first submission would wait for: classes and connections to HDFS and YARN. */
  private void warmUp(PlannedJob first) throws IOException, InterruptedException {
    Path probe = new Path(folder, "probe");
    try (Job job = job(first);
        OutputStream out = probe.getFileSystem(getConf()).create(probe)) {
      job.getConfiguration().writeXml(out);
      new ChunkInput().getSplits(job);
    }
    probe.getFileSystem(getConf()).delete(probe, false);
    Cluster cluster = new Cluster(getConf());
    cluster.getClusterStatus();
    cluster.close();
  }

  private void makeReady(PlannedJob planned) {
    try {
      Job job = job(planned);
      submitters.schedule(() -> submit(planned, job), untilNanos(planned.at), TimeUnit.NANOSECONDS);
    } catch (IOException | RuntimeException error) {
      finish(new Outcome(planned).failed(error));
    }
  }

  private Job job(PlannedJob planned) throws IOException {
    Configuration configuration = new Configuration(getConf());
    ReplaySettings.write(planned, planned.inputBelow(folder).toString(), configuration);
    Job job = Job.getInstance(configuration, "swim " + planned.name);
    job.setJarByClass(Replay.class);
    job.setSpeculativeExecution(false); // a second attempt would read and write more
    job.setInputFormatClass(ChunkInput.class);
    job.setMapperClass(ReadMap.class);
    job.setReducerClass(WriteReduce.class);
    job.setPartitionerClass(Target.Partition.class);
    job.setSortComparatorClass(Target.Order.class);
    job.setOutputKeyClass(Target.class);
    job.setOutputValueClass(Chunk.class);
    job.setOutputFormatClass(ChunkOutput.class);
    job.setNumReduceTasks(planned.reduces);
    FileOutputFormat.setOutputPath(job, planned.outputBelow(folder));
    return job;
  }

  private void submit(PlannedJob planned, Job job) {
    Outcome outcome = new Outcome(planned);
    try {
      outcome.submitted = sinceStart();
      job.submit();
      outcome.accepted = sinceStart();
      outcome.id = job.getJobID().toString();
      watch(outcome, job);
    } catch (IOException | InterruptedException | ClassNotFoundException | RuntimeException e) {
      finish(outcome.failed(e));
    }
  }

  private void watch(Outcome outcome, Job job) {
    watchers.schedule(
        () -> {
          try {
            JobStatus status = job.getStatus();
            if (status.isJobComplete()) {
              outcome.ended(status, startTime);
              conclude(outcome, job);
            } else {
              watch(outcome, job);
            }
          } catch (IOException | InterruptedException | RuntimeException error) {
            finish(outcome.failed(error));
          }
        },
        POLL,
        TimeUnit.MILLISECONDS);
  }

  private void conclude(Outcome outcome, Job job) throws IOException, InterruptedException {
    outcome.count(counters(job));
    Path output = outcome.planned.outputBelow(folder);
    outcome.measure(output, getConf());
    if (!getConf().getBoolean(ReplaySettings.KEEP, false)) {
      output.getFileSystem(getConf()).delete(output, true);
    }
    job.close();
    finish(outcome);
  }

  /** Null when the ApplicationMaster has just gone and there is no history server. */
  private static Counters counters(Job job) {
    try {
      return job.getCounters();
    } catch (IOException gone) {
      return null;
    }
  }

  private synchronized void finish(Outcome outcome) {
    outcomes.println(outcome.line());
    outcomes.flush();
    running.countDown();
  }

  private long sinceStart() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }

  private long untilNanos(long at) {
    return start + TimeUnit.MILLISECONDS.toNanos(at) - System.nanoTime();
  }
}
