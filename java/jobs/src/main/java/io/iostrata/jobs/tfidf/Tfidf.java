package io.iostrata.jobs.tfidf;

import io.iostrata.jobs.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.FileSystemCounter;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code tfidf generate|train|classify FOLDER}: writes requests, makes a model of some of them, and
 * classifies the others with it. Prints what became of it as one JSON object. What is asked for is
 * in the configuration, see {@link TfidfSettings}.
 */
public final class Tfidf extends Configured implements Tool {
  private TfidfSettings asked;
  private Path folder;
  private FileSystem files;

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Tfidf(), arguments));
  }

  @Override
  public int run(String[] arguments)
      throws IOException, InterruptedException, ClassNotFoundException {
    asked = new TfidfSettings(getConf());
    folder = new Path(arguments[1]);
    files = folder.getFileSystem(getConf());
    System.out.println(Json.text(asked(arguments[0])));
    return 0;
  }

  private Map<String, Object> asked(String mode)
      throws IOException, InterruptedException, ClassNotFoundException {
    switch (mode) {
      case "generate":
        return generate();
      case "train":
        return train();
      case "classify":
        return classify();
      default:
        throw new IllegalArgumentException("no mode " + mode);
    }
  }

  private Map<String, Object> generate() throws IOException, InterruptedException {
    write(training(), asked.trainingGenerator(), asked.training.requests);
    write(requests(), asked.generator(), asked.classified.requests);
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("training_bytes", length(training()));
    said.put("input_bytes", length(requests()));
    return said;
  }

  /** With blocks as large as splits, so that each map has one. */
  private void write(Path path, RequestGenerator generator, long count)
      throws IOException, InterruptedException {
    short replicas = files.getDefaultReplication(path);
    int threads = Runtime.getRuntime().availableProcessors();
    try (OutputStream out = files.create(path, false, 1 << 16, replicas, asked.split)) {
      RequestFile.write(generator, count, threads, out);
    }
  }

  private Map<String, Object> train()
      throws IOException, InterruptedException, ClassNotFoundException {
    Job job = job("train", training(), model().getParent());
    job.setMapperClass(Training.Count.class);
    job.setCombinerClass(Training.Combine.class);
    job.setReducerClass(Training.Weigh.class);
    job.setNumReduceTasks(1);
    job.setMapOutputKeyClass(Text.class);
    job.setMapOutputValueClass(Occurrences.class);
    job.setOutputFormatClass(ModelOutput.class);
    Counters counters = counters(job);
    long read = counters.findCounter(TaskCounter.MAP_INPUT_RECORDS).getValue();
    if (read != asked.training.requests) {
      throw new IOException(read + " of " + asked.training.requests + " requests were read");
    }
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("train_job", job.getJobID().toString());
    said.put("model_bytes", length(model()));
    said.put("model_terms", counters.findCounter(TaskCounter.REDUCE_OUTPUT_RECORDS).getValue());
    return said;
  }

  private Map<String, Object> classify()
      throws IOException, InterruptedException, ClassNotFoundException {
    Path out = new Path(folder, "out");
    Job job = job("classify", requests(), out);
    job.getConfiguration().set(Classification.MODEL, model().toString());
    job.setMapperClass(Classification.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(Text.class);
    Counters counters = counters(job);
    Results results = Results.of(files, out);
    results.assertAllOf(asked.classified);
    results.assertCounted(counters);
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("classify_job", job.getJobID().toString());
    said.put("maps", results.files());
    for (Classification.Counted one : Classification.Counted.values()) {
      String name = one.name().toLowerCase(Locale.ROOT);
      said.put(name, counters.findCounter(Classification.COUNTERS, one.name()).getValue());
    }
    String scheme = files.getUri().getScheme();
    said.put(
        "hdfs_bytes_read", counters.findCounter(scheme, FileSystemCounter.BYTES_READ).getValue());
    said.putAll(results.asMap());
    return said;
  }

  /** In as many maps as the input has splits; each has a JVM of its own, whose counters count. */
  private Job job(String name, Path in, Path out) throws IOException {
    Configuration configuration = new Configuration(getConf());
    configuration.setBoolean("mapreduce.job.ubertask.enable", false);
    Job job = Job.getInstance(configuration, "tfidf " + name);
    job.setJarByClass(Tfidf.class);
    job.setSpeculativeExecution(false); // a second attempt would read and write more
    job.setInputFormatClass(RequestInput.class);
    FileInputFormat.addInputPath(job, in);
    FileInputFormat.setMinInputSplitSize(job, asked.split);
    FileInputFormat.setMaxInputSplitSize(job, asked.split);
    FileOutputFormat.setOutputPath(job, out);
    return job;
  }

  /** Of the job when it has ended; throws IOException where it failed. */
  private static Counters counters(Job job)
      throws IOException, InterruptedException, ClassNotFoundException {
    if (!job.waitForCompletion(false)) {
      throw new IOException(job.getJobID() + " failed: " + job.getStatus().getFailureInfo());
    }
    return job.getCounters();
  }

  private Path training() {
    return new Path(folder, "training/requests.txt");
  }

  private Path requests() {
    return new Path(folder, "in/requests.txt");
  }

  private Path model() {
    return new Path(folder, "model/" + ModelOutput.NAME);
  }

  private long length(Path path) throws IOException {
    return files.getFileStatus(path).getLen();
  }
}
