import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Reads a file of HDFS record by record until it is killed, as TeraSort's input format does: a call
 * of the file system for each 100 bytes.
 *
 * <pre>Records HDFS-FILE COUNTER MB</pre>
 *
 * The first 8 bytes of the file COUNTER hold how many bytes it has read so far.
 */
public final class Records {
  private static final int RECORD = 100;
  private static final int EVERY = 64; // records until the counter is moved

  private Records() {}

  public static void main(String[] args) throws Exception {
    MappedByteBuffer counter;
    try (RandomAccessFile file = new RandomAccessFile(args[1], "rw")) {
      file.setLength(8);
      counter = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8);
    }
    FileSystem fs = FileSystem.get(new Configuration());
    Path file = new Path(args[0]);
    try (FSDataOutputStream out = fs.create(file, true)) {
      byte[] megabyte = new byte[1_000_000];
      for (int i = 0; i < Integer.parseInt(args[2]); i++) {
        out.write(megabyte);
      }
    }
    long all = 0;
    while (true) {
      all = read(fs, file, counter, all);
    }
  }

  private static long read(FileSystem fs, Path file, MappedByteBuffer counter, long before)
      throws Exception {
    byte[] record = new byte[RECORD];
    long all = before;
    try (FSDataInputStream in = fs.open(file)) {
      for (int number = 0; ; number++) {
        int done = 0;
        while (done < RECORD) {
          int read = in.read(record, done, RECORD - done);
          if (read < 0) {
            return all;
          }
          done += read;
        }
        all += RECORD;
        if (number % EVERY == 0) {
          counter.putLong(0, all);
        }
      }
    }
  }
}
