import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * Does as many calls as each line of its input says, with arithmetic after each, and answers with
 * the ns of CPU that they took.
 *
 * <p>Arguments: {@code read FILE SPINS} (reads of 64 bytes of a file, which may be recorded individually)
 * or {@code write FILE SPINS} (writes of one byte to a stream of Hadoop, which are only summed).
 */
public final class Work {
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static volatile long sink;
  private static String written;
  private static long writes;
  private static int spins;

  private Work() {}

  public static void main(String[] arguments) throws Exception {
    boolean reads = arguments[0].equals("read");
    int spins = Integer.parseInt(arguments[2]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      long calls = Long.parseLong(line);
      long before = CPU.getCurrentThreadCpuTime();
      if (reads) {
        read(arguments[1], calls, spins);
      } else {
        write(arguments[1], calls, spins);
      }
      System.out.println(CPU.getCurrentThreadCpuTime() - before);
    }
  }

  private static void read(String path, long calls, int spins) throws IOException {
    byte[] bytes = new byte[64];
    long left = calls;
    while (left > 0) {
      try (FileInputStream in = new FileInputStream(path)) {
        while (left > 0 && in.read(bytes) > 0) {
          spin(spins);
          left--;
        }
      }
    }
  }

  private static void write(String path, long calls, int spins) throws IOException {
    Configuration conf = new Configuration(false);
    conf.setClass("fs.work.impl", Created.class, FileSystem.class);
    written = path;
    writes = calls;
    Work.spins = spins;
    FileSystem.newInstance(URI.create("work:///"), conf).close();
  }

  /** A file system whose creation, a span, encloses the writes: those of tasks are in one, too. */
  public static final class Created extends RawLocalFileSystem {
    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      super.initialize(uri, conf);
      try (FSDataOutputStream out =
          new FSDataOutputStream(
              new BufferedOutputStream(new FileOutputStream(written), 1 << 16), null)) {
        for (long i = 0; i < writes; i++) {
          out.write((int) i);
          spin(spins);
        }
      }
    }
  }

  private static void spin(int rounds) {
    long value = sink;
    for (int i = 0; i < rounds; i++) {
      value = value * 6364136223846793005L + 1442695040888963407L;
    }
    sink = value;
  }
}
