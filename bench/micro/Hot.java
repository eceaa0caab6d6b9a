import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;

/**
 * CPU ns of calls that are only summed: writes of one byte and of ten to a stream of Hadoop, and
 * appending a record of TeraSort to a spill, which is 8 such writes. hot.py runs it woven and not.
 *
 * <p>All happens while a file system is being created, which is a span: tasks are in one, too.
 * Prints a JSON line per case: {@code ns} is the median of the batches.
 */
public final class Hot {
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static final int WARM_UP = 4;
  private static final int BATCHES = 9;
  private static final int WRITES = 3_000_000;
  private static final int RECORDS = 300_000;

  private interface Batch {
    void run() throws IOException;
  }

  private Hot() {}

  public static void main(String[] arguments) throws Exception {
    Configuration conf = new Configuration(false);
    conf.setClass("fs.hot.impl", Created.class, FileSystem.class);
    FileSystem.newInstance(URI.create("hot:///"), conf);
  }

  /** A file system that measures while it is made. */
  public static final class Created extends RawLocalFileSystem {
    @Override
    public void initialize(URI uri, Configuration conf) throws IOException {
      super.initialize(uri, conf);
      measure();
    }
  }

  private static void measure() throws IOException {
    FSDataOutputStream out =
        new FSDataOutputStream(new BufferedOutputStream(new Nothing(), 65536), null);
    measure("write of 1 byte", WRITES, () -> bytes(out));
    byte[] ten = new byte[10];
    measure("write of 10 bytes", WRITES, () -> arrays(out, ten));
    Configuration conf = new Configuration(false);
    IFile.Writer<Text, Text> writer =
        new IFile.Writer<>(conf, out, Text.class, Text.class, null, null);
    measure("append of a record", RECORDS, () -> records(writer));
  }

  private static void bytes(FSDataOutputStream out) throws IOException {
    for (int i = 0; i < WRITES; i++) {
      out.write(i);
    }
  }

  private static void arrays(FSDataOutputStream out, byte[] array) throws IOException {
    for (int i = 0; i < WRITES; i++) {
      out.write(array, 0, array.length);
    }
  }

  private static void records(IFile.Writer<Text, Text> writer) throws IOException {
    DataInputBuffer key = new DataInputBuffer();
    DataInputBuffer value = new DataInputBuffer();
    byte[] keyBytes = new byte[11];
    byte[] valueBytes = new byte[91];
    for (int i = 0; i < RECORDS; i++) {
      key.reset(keyBytes, keyBytes.length);
      value.reset(valueBytes, valueBytes.length);
      writer.append(key, value);
    }
  }

  private static void measure(String name, int calls, Batch batch) throws IOException {
    double[] ns = new double[BATCHES];
    for (int b = -WARM_UP; b < BATCHES; b++) {
      long start = CPU.getCurrentThreadCpuTime();
      batch.run();
      if (b >= 0) {
        ns[b] = (double) (CPU.getCurrentThreadCpuTime() - start) / calls;
      }
    }
    Arrays.sort(ns);
    System.out.println("{\"case\":\"" + name + "\",\"ns\":" + ns[BATCHES / 2] + "}");
  }

  private static final class Nothing extends OutputStream {
    @Override
    public void write(int b) {}

    @Override
    public void write(byte[] b, int offset, int length) {}
  }
}
