package io.iostrata.jobs.swim;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code swim-inputs PLAN FOLDER}: writes each input once, as large as the job that reads most of
 * it; none for jobs that read nothing.
 */
public final class Inputs extends Configured implements Tool {
  private static final int WRITERS = 4;
  private static final int CHUNK = 1 << 20;

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Inputs(), arguments));
  }

  @Override
  public int run(String[] arguments) throws IOException, InterruptedException {
    Path folder = new Path(arguments[1]);
    Map<Path, PlannedJob> largest = new TreeMap<>();
    for (PlannedJob job : PlannedJob.read(arguments[0])) {
      if (job.input > 0) {
        largest.merge(job.inputBelow(folder), job, (a, b) -> a.input >= b.input ? a : b);
      }
    }
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    List<Future<?>> written = new ArrayList<>();
    largest.forEach(
        (path, job) ->
            written.add(
                writers.submit(
                    () -> {
                      write(path, job);
                      return null;
                    })));
    try {
      for (Future<?> one : written) {
        one.get();
      }
    } catch (ExecutionException failed) {
      throw new IOException(failed.getCause());
    } finally {
      writers.shutdownNow();
    }
    return 0;
  }

  private void write(Path path, PlannedJob job) throws IOException {
    Configuration configuration = getConf();
    long seed = configuration.getLong(ReplaySettings.SEED, 0) * 31 + job.file;
    Content content = new Content(CHUNK, configuration.getDouble(ReplaySettings.RANDOM, 1), seed);
    try (FSDataOutputStream out = path.getFileSystem(configuration).create(path, false)) {
      for (long left = job.input; left > 0; ) {
        int count = (int) Math.min(CHUNK, left);
        out.write(content.fill(count), 0, count);
        left -= count;
      }
    }
  }
}
