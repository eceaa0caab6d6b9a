import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.io.ElasticByteBufferPool;

/** Calls each traced method of the HDFS client, on files below the path given. */
public final class EveryHdfsCall {
  private static final int SIZE = 100_000;

  private EveryHdfsCall() {}

  @SuppressWarnings("deprecation")
  public static void main(String[] args) throws Exception {
    FileSystem fs = FileSystem.get(new Configuration());
    Path folder = new Path(args[0]);
    fs.mkdirs(folder);
    Path file = new Path(folder, "file");
    try (FSDataOutputStream out = fs.create(file)) {
      out.write(1);
      out.write(new byte[SIZE - 1]);
      out.hsync();
    }
    Path other = new Path(folder, "other");
    EnumSet<CreateFlag> create = EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK);
    fs.create(other, null, create, 4096, (short) 1, 1 << 20, null, null).close();
    reads(fs, file);
    fs.rename(other, new Path(folder, "renamed"));
    fs.getFileStatus(file);
    fs.listStatus(folder);
    fs.open(fs.getPathHandle(fs.getFileStatus(file), Options.HandleOpt.exact())).close();
    fs.delete(file, false);
  }

  private static void reads(FileSystem fs, Path file) throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      in.read();
      in.read(new byte[1000], 0, 1000);
      in.read(ByteBuffer.allocate(2000));
      in.read(50_000, new byte[3000], 0, 3000);
      in.read(60_000, ByteBuffer.allocate(4000));
      in.readFully(70_000, ByteBuffer.allocate(5000));
      ElasticByteBufferPool pool = new ElasticByteBufferPool();
      in.releaseBuffer(in.read(pool, 600, EnumSet.noneOf(ReadOption.class)));
    }
  }
}
