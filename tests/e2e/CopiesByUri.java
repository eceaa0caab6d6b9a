import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Writes a file of a file system and reads it: URI, path. */
public final class CopiesByUri {
  private CopiesByUri() {}

  public static void main(String[] args) throws Exception {
    FileSystem fs = FileSystem.get(URI.create(args[0]), new Configuration());
    Path file = new Path(args[1]);
    byte[] bytes = new byte[7_000];
    try (FSDataOutputStream out = fs.create(file)) {
      for (int i = 0; i < 10; i++) {
        out.write(bytes);
      }
    }
    try (FSDataInputStream in = fs.open(file)) {
      while (in.read(bytes) > 0) {
        continue;
      }
    }
  }
}
