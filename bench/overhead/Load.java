import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * A steady load on HDFS until it is killed: files written, read back and deleted, again and again.
 *
 * <pre>Load HDFS-FOLDER COUNTER THREADS MB-PER-FILE MB-PER-SECOND</pre>
 *
 * The first 8 bytes of the file COUNTER hold how many bytes it has moved so far.
 */
public final class Load {
  private static final int BUFFER = 1 << 16;

  private static final AtomicLong moved = new AtomicLong();
  private static MappedByteBuffer counter;

  private Load() {}

  public static void main(String[] args) throws Exception {
    counter = map(args[1]);
    int threads = Integer.parseInt(args[2]);
    long size = Long.parseLong(args[3]) << 20;
    double bytesPerNano = Double.parseDouble(args[4]) * (1 << 20) / 1e9 / threads;
    FileSystem fs = FileSystem.get(new Configuration());
    for (int t = 0; t < threads; t++) {
      Path file = new Path(args[0], "load-" + t);
      new Thread(
              () -> {
                try {
                  Pace pace = new Pace(bytesPerNano);
                  while (true) {
                    write(fs, file, size, pace);
                    read(fs, file, pace);
                    fs.delete(file, false);
                  }
                } catch (Exception e) {
                  e.printStackTrace();
                  System.exit(1);
                }
              })
          .start();
    }
  }

  private static MappedByteBuffer map(String path) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
      file.setLength(8);
      return file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 8);
    }
  }

  private static void write(FileSystem fs, Path file, long size, Pace pace) throws Exception {
    byte[] buffer = new byte[BUFFER];
    try (FSDataOutputStream out = fs.create(file, true)) {
      for (long done = 0; done < size; done += BUFFER) {
        out.write(buffer);
        pace.moved(BUFFER);
      }
    }
  }

  private static void read(FileSystem fs, Path file, Pace pace) throws Exception {
    byte[] buffer = new byte[BUFFER];
    try (FSDataInputStream in = fs.open(file)) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        pace.moved(read);
      }
    }
  }

  /** Sleeps as soon as it is ahead; what was missed is not made up for. */
  private static final class Pace {
    private final double bytesPerNano;
    private double due = System.nanoTime();

    Pace(double bytesPerNano) {
      this.bytesPerNano = bytesPerNano;
    }

    void moved(int bytes) throws InterruptedException {
      synchronized (counter) {
        counter.putLong(0, moved.addAndGet(bytes));
      }
      long now = System.nanoTime();
      due = Math.max(due, now - 100e6) + bytes / bytesPerNano;
      long ahead = (long) (due - now);
      if (ahead > 1_000_000) {
        Thread.sleep(ahead / 1_000_000);
      }
    }
  }
}
