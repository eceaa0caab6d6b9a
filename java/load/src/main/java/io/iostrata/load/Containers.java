package io.iostrata.load;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.Cluster;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;

/**
 * A sample by several containers of YARN at once: maps of a job, which wait for each other and
 * write down what they moved. One that reads runs where its data are, if YARN has room there.
 */
final class Containers {
  private static final String ORDER = "iostrata.load.order";
  private static final String FOLDER = "iostrata.load.folder";
  private static final String COUNT = "iostrata.load.containers";
  private static final String READY = "ready.";
  private static final String MOVED = "moved.";
  private static final String FAILED = "failed.";
  private static final int LOOK = 50; // ms between two looks for the others

  /** How long a container waits for the others, ns. */
  private static final long PATIENCE = 240_000_000_000L;

  private final Configuration configuration;
  private final Path folder;
  private final Order order;
  private final int count;

  Containers(Configuration configuration, Path folder, Order order, int count) {
    this.configuration = new Configuration(configuration);
    this.folder = folder;
    this.order = order;
    this.count = count;
  }

  /** Bytes of all, and ns of the one that took longest. */
  long[] take() throws IOException, InterruptedException {
    configuration.set(ORDER, order.toString());
    configuration.set(FOLDER, folder.toString());
    configuration.setInt(COUNT, count);
    configuration.setBoolean("mapreduce.map.speculative", false);
    configuration.setInt("mapreduce.map.maxattempts", 1);
    FileSystem files = folder.getFileSystem(configuration);
    files.delete(meeting(configuration), true);
    files.mkdirs(meeting(configuration));
    endJobs(); // of a client that was killed
    Thread ending = new Thread(this::endJobs);
    Runtime.getRuntime().addShutdownHook(ending);
    try {
      Job job = job();
      boolean went = job.waitForCompletion(false);
      Runtime.getRuntime().removeShutdownHook(ending);
      String failure = said(files, FAILED).stream().findFirst().orElse("");
      if (!went || !failure.isEmpty()) {
        String reason = failure.isEmpty() ? job.getStatus().getFailureInfo() : failure;
        throw new IOException(job.getJobID() + " failed: " + reason);
      }
      return total(said(files, MOVED));
    } catch (ClassNotFoundException error) {
      throw new IOException(error);
    } finally {
      files.delete(meeting(configuration), true);
    }
  }

  private String name() {
    return "iostrata-load " + folder;
  }

  private Job job() throws IOException {
    Job job = Job.getInstance(configuration, name());
    job.setJarByClass(Containers.class);
    job.setMapperClass(Load.class);
    job.setNumReduceTasks(0);
    job.setInputFormatClass(Places.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }

  /** Ends those of this folder that still run. */
  private void endJobs() {
    try {
      Cluster cluster = new Cluster(configuration);
      for (JobStatus one : cluster.getAllJobStatuses()) {
        if (name().equals(one.getJobName()) && !one.isJobComplete()) {
          cluster.getJob(one.getJobID()).killJob();
        }
      }
      cluster.close();
    } catch (IOException | InterruptedException error) {
      System.err.println(
          "iostrata: whether a job runs that nobody waits for is not known: " + error);
    }
  }

  private long[] total(List<String> said) throws IOException {
    if (said.size() < count) {
      throw new IOException(said.size() + " of " + count + " containers said what they moved");
    }
    long bytes = 0;
    long longest = 0;
    for (String line : said) {
      String[] words = line.split(" ");
      bytes += Long.parseLong(words[0]);
      longest = Math.max(longest, Long.parseLong(words[1]));
    }
    return new long[] {bytes, longest};
  }

  private List<String> said(FileSystem files, String kind) throws IOException {
    List<String> found = new ArrayList<>();
    for (FileStatus file : files.listStatus(meeting(configuration))) {
      if (file.getPath().getName().startsWith(kind)) {
        byte[] text = new byte[(int) file.getLen()];
        try (FSDataInputStream in = files.open(file.getPath())) {
          in.readFully(text);
        }
        found.add(new String(text, StandardCharsets.UTF_8));
      }
    }
    return found;
  }

  /** A folder where containers leave notes for each other and for the client. */
  private static Path meeting(Configuration configuration) {
    return new Path(configuration.get(FOLDER), "containers");
  }

  private static Order order(Configuration configuration) {
    return Order.of(configuration.get(ORDER).split(" "));
  }

  /** A split for each container. */
  public static final class Places extends InputFormat<NullWritable, NullWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext context) throws IOException {
      Configuration configuration = context.getConfiguration();
      Order order = order(configuration);
      Path folder = new Path(configuration.get(FOLDER));
      FileSystem files = folder.getFileSystem(configuration);
      List<InputSplit> found = new ArrayList<>();
      for (int number = 0; number < configuration.getInt(COUNT, 1); number++) {
        Path file = order.sample(configuration, folder, number * order.clients).file(0);
        BlockLocation[] blocks = new BlockLocation[0];
        if (order.point.reads) {
          blocks = files.getFileBlockLocations(file, 0, 1);
        }
        found.add(new Place(number, blocks.length == 0 ? new String[0] : blocks[0].getHosts()));
      }
      return found;
    }

    @Override
    public RecordReader<NullWritable, NullWritable> createRecordReader(
        InputSplit split, TaskAttemptContext context) {
      return new NoRecords();
    }
  }

  /** The number of a container, and where its data are. */
  public static final class Place extends InputSplit implements Writable {
    private int number;
    private String[] hosts = {};

    /** For Hadoop. */
    public Place() {}

    Place(int number, String... hosts) {
      this.number = number;
      this.hosts = hosts;
    }

    @Override
    public long getLength() {
      return 0;
    }

    @Override
    public String[] getLocations() {
      return hosts.clone();
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(number);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readInt();
    }
  }

  /** What a container does. */
  public static final class Load
      extends Mapper<NullWritable, NullWritable, NullWritable, NullWritable> {
    @Override
    public void run(Context context) throws IOException, InterruptedException {
      Configuration configuration = context.getConfiguration();
      Order order = order(configuration);
      int number = ((Place) context.getInputSplit()).number;
      Path folder = new Path(configuration.get(FOLDER));
      FileSystem files = folder.getFileSystem(configuration);
      try {
        Sample sample = order.sample(configuration, folder, number * order.clients);
        long[] found = sample.take(order.most, () -> meet(context, files, number));
        leave(files, context, MOVED + number, found[0] + " " + found[1]);
      } catch (IOException error) {
        leave(files, context, FAILED + number, String.valueOf(error.getMessage()));
        throw error;
      }
    }

    private static void leave(FileSystem files, Context context, String name, String text)
        throws IOException {
      Path note = new Path(meeting(context.getConfiguration()), name);
      try (FSDataOutputStream out = files.create(note, true)) {
        out.write(text.getBytes(StandardCharsets.UTF_8));
      }
    }

    /** Returns when all containers are here. */
    private static void meet(Context context, FileSystem files, int number)
        throws IOException, InterruptedException {
      leave(files, context, READY + number, "");
      int count = context.getConfiguration().getInt(COUNT, 1);
      int here = 0;
      for (long end = System.nanoTime() + PATIENCE; here < count; Thread.sleep(LOOK)) {
        here = 0;
        for (FileStatus file : files.listStatus(meeting(context.getConfiguration()))) {
          here += file.getPath().getName().startsWith(READY) ? 1 : 0;
        }
        context.progress();
        if (here < count && System.nanoTime() > end) {
          throw new IOException(
              here + " of " + count + " containers run at once: YARN has no room for more");
        }
      }
    }
  }

  private static final class NoRecords extends RecordReader<NullWritable, NullWritable> {
    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      return false;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
