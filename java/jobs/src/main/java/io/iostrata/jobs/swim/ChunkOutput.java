package io.iostrata.jobs.swim;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Files of the bytes of the values, without any format. */
public final class ChunkOutput extends FileOutputFormat<Target, Chunk> {
  @Override
  public RecordWriter<Target, Chunk> getRecordWriter(TaskAttemptContext context)
      throws IOException {
    Path path = getDefaultWorkFile(context, "");
    FSDataOutputStream out = path.getFileSystem(context.getConfiguration()).create(path, false);
    return new RecordWriter<Target, Chunk>() {
      @Override
      public void write(Target key, Chunk value) throws IOException {
        out.write(value.bytes(), 0, value.length());
      }

      @Override
      public void close(TaskAttemptContext closing) throws IOException {
        out.close();
      }
    };
  }
}
