package io.iostrata.jobs.swim;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.JobInfo;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter;

/** A job as its history file ({@code .jhist}) and the configuration beside it tell of it. */
final class PastJob {
  private final String name;
  private final JobInfo job;
  private final String error;
  private final String inputs;

  PastJob(FileSystem files, Path path) {
    name = nameOf(path.getName());
    JobInfo parsed = null;
    String what = "";
    try {
      JobHistoryParser parser = new JobHistoryParser(files, path);
      parsed = parser.parse();
      what = parser.getParseException() == null ? "" : parser.getParseException().toString();
    } catch (IOException | RuntimeException foreign) {
      what = foreign.toString();
    }
    job = parsed;
    error = what;
    inputs = inputs(files, new Path(path.getParent(), name + "_conf.xml"));
  }

  /** The job's, of the name of its history: {@code job_1_2-1700-user-….jhist}. */
  static String nameOf(String file) {
    return file.replaceFirst("[-.].*", "");
  }

  /**
   * Fields with tabs between them: the job, its state, ms of the epoch at its submission, bytes of
   * input, of map output where it has reduces, of output, the paths of its input, what was wrong
   * with its history. Where that cannot be read, the state is UNREADABLE; where the job has not
   * ended in it, UNFINISHED.
   */
  String line() {
    if (job == null || !error.isEmpty()) {
      return fields("UNREADABLE", 0, 0, 0, 0);
    }
    if (job.getTotalCounters() == null || job.getFinishTime() <= 0) {
      return fields("UNFINISHED", job.getSubmitTime(), 0, 0, 0);
    }
    return fields(
        job.getJobStatus(),
        job.getSubmitTime(),
        counted(FileInputFormatCounter.BYTES_READ),
        job.getTotalReduces() == 0 ? 0 : counted(TaskCounter.MAP_OUTPUT_BYTES),
        counted(FileOutputFormatCounter.BYTES_WRITTEN));
  }

  private long counted(Enum<?> counter) {
    return job.getTotalCounters().findCounter(counter).getValue();
  }

  private static String inputs(FileSystem files, Path path) {
    Configuration configuration = new Configuration(false);
    try (InputStream stream = files.open(path)) {
      configuration.addResource(stream);
      return configuration.getRaw(FileInputFormat.INPUT_DIR) == null
          ? ""
          : configuration.getRaw(FileInputFormat.INPUT_DIR);
    } catch (IOException | RuntimeException none) {
      return ""; // popularity of its input is not known then, nothing else
    }
  }

  private String fields(String state, long submit, long input, long shuffle, long output) {
    String[] texts = {inputs, error};
    for (int i = 0; i < texts.length; i++) {
      texts[i] = texts[i].replaceAll("\\s+", " ");
    }
    return name + "\t" + state + "\t" + submit + "\t" + input + "\t" + shuffle + "\t" + output
        + "\t" + texts[0] + "\t" + texts[1];
  }
}
