package io.iostrata.jobs.tfidf;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** The model as a file. */
public final class ModelOutput extends FileOutputFormat<Text, TermWeights> {
  /** The name of the only one that a job with one reduce writes. */
  static final String NAME = "part-r-00000";

  @Override
  public RecordWriter<Text, TermWeights> getRecordWriter(TaskAttemptContext context)
      throws IOException {
    Path path = getDefaultWorkFile(context, "");
    FSDataOutputStream out = path.getFileSystem(context.getConfiguration()).create(path, false);
    return new RecordWriter<Text, TermWeights>() {
      @Override
      public void write(Text term, TermWeights weights) throws IOException {
        weights.write(out);
      }

      @Override
      public void close(TaskAttemptContext ended) throws IOException {
        TermWeights.writeEnd(out);
        out.close();
      }
    };
  }
}
