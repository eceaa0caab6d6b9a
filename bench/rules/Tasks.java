import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
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
                files(context);
            }
        }

        @Override
        protected void map(LongWritable at, Text line, Context context)
                throws IOException, InterruptedException {
            if (cause.equals("log-writes")) {
                System.err.println("read a record at " + at + ": " + line);
            }
            for (String word : line.toString().split(" ")) {
                boolean same = cause.equals("shuffle-skew") && word.hashCode() % 10 != 0;
                key.set(same ? "the" : word);
                context.write(key, value);
            }
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            if (cause.equals("straggler") && first) {
                busy(times);
            }
            if (cause.equals("failed-attempts") && attempt == 0) {
                busy(times);
                throw new IOException("a fault on purpose, at the end of the first attempt");
            }
        }

        /** Many files beside the output, which the commit of the job moves one by one. */
        private void files(Context context) throws IOException, InterruptedException {
            Path folder = FileOutputFormat.getWorkOutputPath(context);
            FileSystem hdfs = folder.getFileSystem(context.getConfiguration());
            int task = context.getTaskAttemptID().getTaskID().getId();
            for (int i = 0; i < times; i++) {
                try (FSDataOutputStream out = hdfs.create(new Path(folder, task + "-" + i))) {
                    // empty: creating is cheap, moving is not
                }
            }
        }

        /** Computes for so many seconds. */
        private static void busy(int seconds) {
            long end = System.nanoTime() + seconds * 1_000_000_000L;
            Random random = new Random(1);
            while (System.nanoTime() < end) {
                random.nextInt();
            }
        }
    }

    public static final class Count extends Reducer<Text, Text, Text, LongWritable> {
        private final LongWritable sum = new LongWritable();

        @Override
        protected void reduce(Text key, Iterable<Text> values, Context context)
                throws IOException, InterruptedException {
            long count = 0;
            for (Text value : values) {
                count += value.getLength();
            }
            sum.set(count);
            context.write(key, sum);
        }
    }
}
