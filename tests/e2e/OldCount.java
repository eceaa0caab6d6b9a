import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapReduceBase;
import org.apache.hadoop.mapred.Mapper;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.Reducer;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.lib.IdentityMapper;

/**
 * Two jobs of the old API: a copy without reduce, then a count of words with a combiner. The first
 * attempt of map 0 of the count fails after 100 lines, that of map 1 is so slow that a second,
 * speculative one overtakes it.
 *
 * <p>Arguments: input, output.
 */
public class OldCount {
  public static class Words extends MapReduceBase
      implements Mapper<LongWritable, Text, Text, LongWritable> {
    private static final int LINES_BEFORE_FAILURE = 100;
    private static final long SLOW_MILLIS = 500;

    private final Text word = new Text();
    private final LongWritable one = new LongWritable(1);
    private String attempt;
    private int lines;

    @Override
    public void configure(JobConf job) {
      attempt = job.get("mapreduce.task.attempt.id");
    }

    @Override
    public void map(
        LongWritable offset, Text line, OutputCollector<Text, LongWritable> out, Reporter reporter)
        throws IOException {
      if (attempt.endsWith("m_000000_0") && ++lines > LINES_BEFORE_FAILURE) {
        throw new IOException("the failure that was asked for");
      }
      if (attempt.endsWith("m_000001_0")) {
        sleep();
      }
      for (String text : line.toString().split(" ")) {
        word.set(text);
        out.collect(word, one);
      }
    }

    private static void sleep() throws IOException {
      try {
        Thread.sleep(SLOW_MILLIS);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  public static class Sum extends MapReduceBase
      implements Reducer<Text, LongWritable, Text, LongWritable> {
    @Override
    public void reduce(
        Text word,
        Iterator<LongWritable> counts,
        OutputCollector<Text, LongWritable> out,
        Reporter reporter)
        throws IOException {
      long sum = 0;
      while (counts.hasNext()) {
        sum += counts.next().get();
      }
      out.collect(word, new LongWritable(sum));
    }
  }

  private static void copy(String input, String output) throws IOException {
    JobConf job = new JobConf(OldCount.class);
    job.setJobName("copy");
    job.setMapperClass(IdentityMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputKeyClass(LongWritable.class);
    job.setOutputValueClass(Text.class);
    job.setSpeculativeExecution(false);
    FileInputFormat.setInputPaths(job, new Path(input));
    FileOutputFormat.setOutputPath(job, new Path(output + "-copy"));
    JobClient.runJob(job);
  }

  private static void count(String input, String output) throws IOException {
    JobConf job = new JobConf(OldCount.class);
    job.setJobName("count");
    job.setMapperClass(Words.class);
    job.setCombinerClass(Sum.class);
    job.setReducerClass(Sum.class);
    job.setNumMapTasks(3);
    job.setNumReduceTasks(1);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(LongWritable.class);
    // Small enough that each map spills twice, and combines again when it merges these.
    job.setInt("mapreduce.task.io.sort.mb", 1);
    job.setInt("mapreduce.map.combine.minspills", 2);
    // Three parts of 7 KB for one reduce: two are less than 18 KB, the third starts the one merge
    // in memory, with combiner.
    job.setLong("mapreduce.reduce.memory.totalbytes", 100_000);
    job.setFloat("mapreduce.reduce.shuffle.input.buffer.percent", 1);
    job.setFloat("mapreduce.reduce.shuffle.memory.limit.percent", 0.1f);
    job.setFloat("mapreduce.reduce.shuffle.merge.percent", 0.18f);
    // Look for stragglers at once and often.
    job.setReduceSpeculativeExecution(false);
    job.setLong("mapreduce.job.speculative.retry-after-no-speculate", 500);
    FileInputFormat.setInputPaths(job, new Path(input));
    FileOutputFormat.setOutputPath(job, new Path(output));
    JobClient.runJob(job);
  }

  public static void main(String[] arguments) throws IOException {
    copy(arguments[0], arguments[1]);
    count(arguments[0], arguments[1]);
  }
}
