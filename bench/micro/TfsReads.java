import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Prints the ns of a read of 64 bytes from a file's buffer: URI, file, calls, directory of the
 * collector, run.
 */
public final class TfsReads {
  private TfsReads() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.tfs.trace.dir", args[3]);
    conf.set("fs.tfs.trace.run", args[4]);
    FileSystem fs = FileSystem.get(URI.create(args[0]), conf);
    int calls = Integer.parseInt(args[2]);
    byte[] bytes = new byte[64];
    double ns = 0;
    for (int round = 0; round < 3; round++) { // the last is compiled, if anything is
      try (FSDataInputStream in = fs.open(new Path(args[1]))) {
        long since = System.nanoTime();
        for (int call = 0; call < calls; call++) {
          in.seek(0);
          in.read(bytes);
        }
        ns = (double) (System.nanoTime() - since) / calls;
      }
    }
    System.out.printf("%.1f%n", ns);
  }
}
