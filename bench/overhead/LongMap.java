import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.examples.WordCount;

/**
 * WordCount with its combiner as one single map, which says in a local file how far it is.
 *
 * <pre>LongMap INPUT OUTPUT COUNTER</pre>
 *
 * The first 8 bytes of COUNTER hold how many bytes of input it has mapped; -1 when it has ended.
 */
public final class LongMap {
  private static final String COUNTER = "bench.counter";

  private LongMap() {}

  /** The words of Hadoop's example, counted as they come. */
  public static final class Words extends WordCount.TokenizerMapper {
    private static final int EVERY = 64;

    private MappedByteBuffer counter;
    private long mapped;
    private int records;

    @Override
    protected void setup(Context context) throws IOException {
      String path = context.getConfiguration().get(COUNTER);
      try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
        file.setLength(8);
        counter = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8);
      }
    }

    @Override
    public void map(Object key, Text value, Context context)
        throws IOException, InterruptedException {
      super.map(key, value, context);
      mapped += value.getLength() + 1;
      if (++records % EVERY == 0) {
        counter.putLong(0, mapped);
      }
    }

    @Override
    protected void cleanup(Context context) {
      counter.putLong(0, -1);
    }
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set(COUNTER, args[2]);
    conf.setInt("mapreduce.map.maxattempts", 1);
    // A spill each few MB of input: every window has many of them, not one or none.
    conf.setInt("mapreduce.task.io.sort.mb", 16);
    conf.setBoolean("mapreduce.map.speculative", false);
    Job job = Job.getInstance(conf, "long map");
    job.setJarByClass(LongMap.class);
    job.setMapperClass(Words.class);
    job.setCombinerClass(WordCount.IntSumReducer.class);
    job.setReducerClass(WordCount.IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new Path(args[0]));
    FileInputFormat.setMinInputSplitSize(job, Long.MAX_VALUE);
    FileOutputFormat.setOutputPath(job, new Path(args[1]));
    System.exit(job.waitForCompletion(false) ? 0 : 1);
  }
}
