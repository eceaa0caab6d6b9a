package io.iostrata.jobs.swim;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;

/**
 * The first bytes of a file, in as many equal splits as maps are asked for. A record is a chunk of
 * up to 1 MiB: nothing is done for each smaller one.
 */
public final class ChunkInput extends InputFormat<NullWritable, Chunk> {
  private static final int CHUNK = 1 << 20;

  @Override
  public List<InputSplit> getSplits(JobContext context) throws IOException {
    Configuration configuration = context.getConfiguration();
    ReplaySettings asked = new ReplaySettings(configuration);
    Path path = new Path(asked.file);
    FileSystem files = path.getFileSystem(configuration);
    List<InputSplit> splits = new ArrayList<>();
    for (int map = 0; map < asked.maps; map++) {
      long start = Shares.start(asked.input, asked.maps, map);
      long length = Shares.share(asked.input, asked.maps, map);
      splits.add(new FileSplit(path, start, length, hosts(files, path, start, length)));
    }
    return splits;
  }

  /** Those with the block in which it begins. */
  private static String[] hosts(FileSystem files, Path path, long start, long length)
      throws IOException {
    if (length == 0) { // there may be no file
      return new String[0];
    }
    BlockLocation[] blocks = files.getFileBlockLocations(path, start, 1);
    return blocks.length == 0 ? new String[0] : blocks[0].getHosts();
  }

  @Override
  public RecordReader<NullWritable, Chunk> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  private static final class Reader extends RecordReader<NullWritable, Chunk> {
    private final Chunk chunk = new Chunk();
    private byte[] bytes;
    private FSDataInputStream in;
    private long length;
    private long left;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
      FileSplit file = (FileSplit) split;
      length = file.getLength();
      left = length;
      bytes = new byte[(int) Math.min(CHUNK, length)];
      if (length > 0) {
        Path path = file.getPath();
        in = path.getFileSystem(context.getConfiguration()).open(path);
        in.seek(file.getStart());
      }
    }

    @Override
    public boolean nextKeyValue() throws IOException {
      if (left == 0) {
        return false;
      }
      int count = (int) Math.min(bytes.length, left);
      in.readFully(bytes, 0, count);
      chunk.set(bytes, count);
      left -= count;
      return true;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public Chunk getCurrentValue() {
      return chunk;
    }

    @Override
    public float getProgress() {
      return length == 0 ? 1 : (float) (length - left) / length;
    }

    @Override
    public void close() throws IOException {
      if (in != null) {
        in.close();
      }
    }
  }
}
