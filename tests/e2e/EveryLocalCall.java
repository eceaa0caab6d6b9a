import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Calls each traced method of Hadoop's local file system, below its checksums, in a folder. */
public final class EveryLocalCall {
  private static final int SIZE = 3_000;

  private EveryLocalCall() {}

  /** Lets us at the stream below the buffer, where single bytes arrive as such. */
  private static final class Raw extends RawLocalFileSystem {
    OutputStream stream(Path file) throws Exception {
      return createOutputStream(file, false);
    }
  }

  public static void main(String[] args) throws Exception {
    FileSystem.newInstanceLocal(new Configuration()).close();
    Path folder = new Path(new File(args[0]).toURI());
    Raw raw = new Raw();
    raw.initialize(new URI("file:///"), new Configuration());
    Path file = new Path(folder, "file");
    try (FSDataOutputStream out = raw.create(file)) { // in one piece below: it fits the buffer
      out.write(1);
      out.write(new byte[SIZE - 1]);
    }
    OutputStream bare = raw.stream(new Path(folder, "bare"));
    try (FSDataOutputStream out = new FSDataOutputStream(bare, null)) { // its calls arrive as such
      out.write(1);
      out.write(new byte[SIZE - 1]);
    }
    try (OutputStream out = raw.stream(new Path(folder, "direct"))) {
      out.write(1);
      out.write(new byte[200], 50, 100);
    }
    vectored(raw, file); // first: what the pool's threads do last they do long before the end
    reads(raw, file);
  }

  private static void reads(Raw raw, Path file) throws Exception {
    try (FSDataInputStream in = raw.open(file)) {
      in.read(500, new byte[400], 0, 400); // past the buffer
    }
    Class<?> type = Class.forName("org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileInputStream");
    Constructor<?> open = type.getDeclaredConstructor(RawLocalFileSystem.class, Path.class);
    open.setAccessible(true);
    try (InputStream in = (InputStream) open.newInstance(raw, file)) {
      in.read();
      in.read(new byte[300], 0, 300);
    }
  }

  private static void vectored(Raw raw, Path file) throws Exception {
    List<FileRange> ranges =
        Arrays.asList(FileRange.createFileRange(0, 1_000), FileRange.createFileRange(2_000, 700));
    try (FSDataInputStream in = raw.open(file)) {
      in.readVectored(ranges, ByteBuffer::allocate);
      for (FileRange range : ranges) {
        range.getData().get();
      }
    }
  }
}
