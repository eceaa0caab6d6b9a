package io.iostrata.jobs.tfidf;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * Reads the whole model, then writes a line for each request: its id, its class, and the class that
 * was found, with tabs between.
 */
final class Classification extends Mapper<LongWritable, Text, NullWritable, Text> {
  /** Where the model is, in HDFS. */
  static final String MODEL = "iostrata.tfidf.model";

  static final String COUNTERS = "TF-IDF";
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** What each map adds; times in ns. */
  enum Counted {
    MODEL_BYTES_READ, // as the file system counted them
    MODEL_TERMS,
    MODEL_NANOS,
    MODEL_CPU_NANOS, // of its one thread
    REQUEST_NANOS, // from then on: reading, classifying, writing
    REQUEST_CPU_NANOS
  }

  private final Terms terms = new Terms();
  private final Text line = new Text();
  private final long[] right = new long[RequestClass.COUNT];
  private final long[] wrong = new long[RequestClass.COUNT];
  private Model model;
  private long ready; // of System.nanoTime
  private long readyCpu; // of the thread

  @Override
  protected void setup(Context context) throws IOException {
    long start = System.nanoTime();
    long startCpu = THREADS.getCurrentThreadCpuTime();
    Configuration configuration = context.getConfiguration();
    Path path = new Path(configuration.get(MODEL));
    FileSystem files = path.getFileSystem(configuration);
    long before = bytesRead(files);
    try (FSDataInputStream in = files.open(path)) {
      model = new Model(buffered(in, new TfidfSettings(configuration).buffer));
    }
    count(context, Counted.MODEL_BYTES_READ, bytesRead(files) - before);
    count(context, Counted.MODEL_TERMS, model.terms());
    ready = System.nanoTime();
    readyCpu = THREADS.getCurrentThreadCpuTime();
    count(context, Counted.MODEL_NANOS, ready - start);
    count(context, Counted.MODEL_CPU_NANOS, readyCpu - startCpu);
  }

  /** Without a buffer each number and term is a read of its own, as in the original. */
  private static DataInputStream buffered(FSDataInputStream in, int size) {
    return size == 0 ? in : new DataInputStream(new BufferedInputStream(in, size));
  }

  private static long bytesRead(FileSystem files) {
    StorageStatistics statistics =
        FileSystem.getGlobalStorageStatistics().get(files.getUri().getScheme());
    return statistics.getLong("bytesRead");
  }

  @Override
  protected void map(LongWritable key, Text record, Context context)
      throws IOException, InterruptedException {
    Request request = new Request(record);
    terms.of(record.getBytes(), request.from, request.to);
    RequestClass found = model.classify(terms);
    (found == request.label ? right : wrong)[request.label.ordinal()]++;
    line.set(request.id + "\t" + request.label.label + "\t" + found.label);
    context.write(NullWritable.get(), line);
  }

  @Override
  protected void cleanup(Context context) {
    for (int label = 0; label < RequestClass.COUNT; label++) {
      context.getCounter(COUNTERS, right(label)).increment(right[label]);
      context.getCounter(COUNTERS, wrong(label)).increment(wrong[label]);
    }
    count(context, Counted.REQUEST_NANOS, System.nanoTime() - ready);
    count(context, Counted.REQUEST_CPU_NANOS, THREADS.getCurrentThreadCpuTime() - readyCpu);
  }

  static String right(int label) {
    return RequestClass.at(label).label + " right";
  }

  static String wrong(int label) {
    return RequestClass.at(label).label + " wrong";
  }

  private static void count(Context context, Counted what, long value) {
    context.getCounter(COUNTERS, what.name()).increment(value);
  }
}
