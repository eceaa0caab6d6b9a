package io.iostrata.jobs.swim;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;

/**
 * What became of a job, as a line of tabs: its index, id, state, ms from the start of the replay to
 * its submission, to the answer to that, to its first moment and to its end by the cluster's clock;
 * bytes of input, shuffle and output by its counters; bytes of map output with its format, local
 * bytes written, bytes of the output in HDFS and those with all replicas; what went wrong. What is
 * not known is -1.
 */
final class Outcome {
  private static final long UNKNOWN = -1;

  final PlannedJob planned;
  String id = "";
  long submitted = UNKNOWN;
  long accepted = UNKNOWN;
  private String state = "FAILED";
  private String error = "";
  private long began = UNKNOWN;
  private long ended = UNKNOWN;
  private long input = UNKNOWN;
  private long shuffle = UNKNOWN;
  private long output = UNKNOWN;
  private long materialized = UNKNOWN;
  private long local = UNKNOWN;
  private long length = UNKNOWN;
  private long space = UNKNOWN;

  Outcome(PlannedJob planned) {
    this.planned = planned;
  }

  /** A job that is known to have succeeded keeps that, whatever was wrong afterwards. */
  Outcome failed(Exception why) {
    error = why.toString();
    return this;
  }

  void ended(JobStatus status, long startTime) {
    state = status.getState().name();
    error = state.equals("SUCCEEDED") ? "" : String.valueOf(status.getFailureInfo());
    began = status.getStartTime() - startTime;
    ended = status.getFinishTime() - startTime;
  }

  /** Null where neither the ApplicationMaster nor a history server answers any more. */
  void count(Counters counters) {
    if (counters == null || counters.countCounters() == 0) {
      return;
    }
    input = counters.findCounter(FileInputFormatCounter.BYTES_READ).getValue();
    shuffle = counters.findCounter(TaskCounter.MAP_OUTPUT_BYTES).getValue();
    materialized = counters.findCounter(TaskCounter.MAP_OUTPUT_MATERIALIZED_BYTES).getValue();
    output = counters.findCounter(FileOutputFormatCounter.BYTES_WRITTEN).getValue();
    local = counters.findCounter("file", FileSystemCounter.BYTES_WRITTEN).getValue();
  }

  void measure(Path path, Configuration configuration) throws IOException {
    try {
      ContentSummary summary = path.getFileSystem(configuration).getContentSummary(path);
      length = summary.getLength();
      space = summary.getSpaceConsumed();
    } catch (FileNotFoundException none) {
      length = 0;
      space = 0;
    }
  }

  String line() {
    Object[] fields = {
      planned.index,
      id,
      state,
      submitted,
      accepted,
      began,
      ended,
      input,
      shuffle,
      output,
      materialized,
      local,
      length,
      space,
      error.replaceAll("\\s+", " ")
    };
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      line.append(line.length() == 0 ? "" : "\t").append(field);
    }
    return line.toString();
  }
}
