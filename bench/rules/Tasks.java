import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.GenericOptionsParser;

/**
 * A MapReduce job with one thing wrong: {@code Tasks [-D …] CAUSE TIMES SEED IN OUT}; {@code none}
 * does it right: each word with a value of 100 bytes goes to the reduce of its hash.
 */
public final class Tasks {
    static final String CAUSE = "causes.cause";
    static final String TIMES = "causes.times";

    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        String[] rest = new GenericOptionsParser(configuration, arguments).getRemainingArgs();
        configuration.set(CAUSE, rest[0]);
        configuration.setInt(TIMES, Integer.parseInt(rest[1]));
        configuration.setLong("causes.seed", Long.parseLong(rest[2]));
        Job job = Job.getInstance(configuration, "causes " + rest[0]);
        job.setJarByClass(Tasks.class);
        job.setMapperClass(Words.class);
        job.setReducerClass(Count.class);
        job.setInputFormatClass(TextInputFormat.class);
        job.setMapOutputKeyClass(Text.class);
        job.setMapOutputValueClass(Text.class);
        job.setOutputKeyClass(Text.class);
        job.setOutputValueClass(LongWritable.class);
        FileInputFormat.addInputPath(job, new Path(rest[3]));
        FileOutputFormat.setOutputPath(job, new Path(rest[4]));
        System.exit(job.waitForCompletion(false) ? 0 : 1);
    }

    public static final class Words extends Mapper<LongWritable, Text, Text, Text> {
        private final Text key = new Text();
        private final Text value = new Text("x".repeat(100));
        private String cause;
        private int times;
        private boolean first;
        private int attempt;

        @Override
        protected void setup(Context context) throws IOException, InterruptedException {
            cause = context.getConfiguration().get(CAUSE);
            times = context.getConfiguration().getInt(TIMES, 1);
            first = context.getTaskAttemptID().getTaskID().getId() == 0;
            attempt = context.getTaskAttemptID().getId();
            if (cause.equals("slow-commit")) {
                folders(context);
            }
        }

        @Override
        protected void map(LongWritable at, Text line, Context context)
                throws IOException, InterruptedException {
            for (String word : line.toString().split(" ")) {
                if (cause.equals("log-writes")) {
                    System.err.println("read a record at " + at);
                    System.err.println("found a word in it: " + word);
                    System.err.println("put it out with a value of " + value.getLength());
                }
                boolean same = cause.equals("shuffle-skew") && word.hashCode() % 10 != 0;
                key.set(same ? "the" : word);
                context.write(key, value);
            }
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            if (cause.equals("straggler") && first || cause.equals("reduces-wait")) {
                busy(times * 1_000_000);
            }
            if (cause.equals("failed-attempts") && attempt == 0) {
                busy(times * 1_000_000);
                throw new IOException("a fault on purpose, at the end of the first attempt");
            }
        }

        /** Many names beside the output, which the commit of the job moves one after the other. */
        private void folders(Context context) throws IOException, InterruptedException {
            Path folder = FileOutputFormat.getWorkOutputPath(context);
            FileSystem hdfs = folder.getFileSystem(context.getConfiguration());
            int task = context.getTaskAttemptID().getTaskID().getId();
            for (int i = 0; i < times; i++) {
                hdfs.mkdirs(new Path(folder, task + "-" + i));
            }
        }

    }

    /** Computes for so many microseconds. */
    private static void busy(int microseconds) {
        if (microseconds == 0) {
            return;
        }
        long end = System.nanoTime() + microseconds * 1000L;
        Random random = new Random(1);
        while (System.nanoTime() < end) {
            random.nextInt();
        }
    }

    public static final class Count extends Reducer<Text, Text, Text, LongWritable> {
        private final LongWritable sum = new LongWritable();
        private int each;
        private int eachValue;

        @Override
        protected void setup(Context context) {
            Configuration configuration = context.getConfiguration();
            String cause = configuration.get(CAUSE);
            int times = configuration.getInt(TIMES, 1);
            each = cause.equals("one-reduce") ? times : 0;
            eachValue = cause.equals("shuffle-skew") ? times : 0;
        }

        @Override
        protected void reduce(Text key, Iterable<Text> values, Context context)
                throws IOException, InterruptedException {
            busy(each);
            long count = 0;
            for (Text value : values) {
                count += value.getLength();
                busy(eachValue);
            }
            sum.set(count);
            context.write(key, sum);
        }
    }
}
