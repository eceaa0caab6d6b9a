import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.reduce.IntSumReducer;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * A count of words in which each map also hands out one word larger than the sort buffer, and the
 * reduce merges in memory. The first attempt of map 0 writes its pid to the file PID, then reads
 * from the pipe NEVER, into which nobody writes: it waits until it is killed.
 *
 * <p>Arguments: input, output, PID, NEVER.
 */
public class Merges extends Configured implements Tool {
  private static final int LARGE_CHARS = 1_500_000;
  private static final String PID = "merges.pid";
  private static final String NEVER = "merges.never";

  public static class Words extends Mapper<LongWritable, Text, Text, IntWritable> {
    private static final int LARGE_AT_LINE = 100;
    private static final IntWritable ONE = new IntWritable(1);

    private final Text word = new Text();
    private int lines;

    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      String attempt = context.getTaskAttemptID().toString();
      if (++lines == LARGE_AT_LINE) {
        if (attempt.endsWith("m_000000_0")) {
          waitForDeath(context.getConfiguration().get(PID), context.getConfiguration().get(NEVER));
        }
        char[] large = new char[LARGE_CHARS];
        Arrays.fill(large, (char) ('a' + context.getTaskAttemptID().getTaskID().getId()));
        word.set(new String(large));
        context.write(word, ONE);
      }
      for (String text : line.toString().split(" ")) {
        word.set(text);
        context.write(word, ONE);
      }
    }

    private static void waitForDeath(String pid, String never) throws IOException {
      String name = ManagementFactory.getRuntimeMXBean().getName(); // pid@host
      Path written = Paths.get(pid + ".part");
      Files.write(written, name.substring(0, name.indexOf('@')).getBytes());
      try (RandomAccessFile pipe = new RandomAccessFile(never, "rw")) {
        Files.move(written, Paths.get(pid));
        pipe.read();
      }
    }
  }

  @Override
  public int run(String[] arguments) throws Exception {
    Job job = Job.getInstance(getConf(), "merges");
    job.setJarByClass(Merges.class);
    job.getConfiguration().set(PID, arguments[2]);
    job.getConfiguration().set(NEVER, arguments[3]);
    job.setMapperClass(Words.class);
    job.setCombinerClass(IntSumReducer.class);
    job.setReducerClass(IntSumReducer.class);
    job.setOutputKeyClass(Text.class);
    job.setOutputValueClass(IntWritable.class);
    FileInputFormat.addInputPath(job, new org.apache.hadoop.fs.Path(arguments[0]));
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path(arguments[1]));
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Merges(), arguments));
  }
}
