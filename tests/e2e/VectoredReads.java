import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Writes 1 MiB to HDFS and reads two ranges of it at once: FILE. */
public final class VectoredReads {
  private VectoredReads() {}

  public static void main(String[] args) throws Exception {
    FileSystem fs = FileSystem.get(new Configuration());
    Path file = new Path(args[0]);
    try (FSDataOutputStream out = fs.create(file)) {
      out.write(new byte[1 << 20]);
    }
    List<FileRange> ranges =
        Arrays.asList(
            FileRange.createFileRange(1_000, 200_000), FileRange.createFileRange(600_000, 300_000));
    try (FSDataInputStream in = fs.open(file)) {
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        range.getData().get();
      }
    }
  }
}
