import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import org.apache.hadoop.fs.FSDataOutputStream;

/**
 * Works until its input ends: one call, then arithmetic. Answers each line of its input with {@code
 * calls cpu}: calls so far and ns of CPU that the working thread has taken.
 *
 * <p>Arguments: {@code read FILE SPINS} (a read of 64 bytes of a file, which is kept one by one) or
 * {@code write FILE SPINS} (a write of one byte to a stream of Hadoop, which is only summed); SPINS
 * rounds of arithmetic follow each call.
 */
public final class Work {
  private static volatile long calls;
  private static volatile long sink;

  private Work() {}

  public static void main(String[] arguments) throws Exception {
    int spins = Integer.parseInt(arguments[2]);
    boolean reads = arguments[0].equals("read");
    Thread worker = new Thread(() -> work(reads, arguments[1], spins), "worker");
    worker.setDaemon(true);
    worker.start();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    while (in.readLine() != null) {
      long cpu = ManagementFactory.getThreadMXBean().getThreadCpuTime(worker.getId());
      System.out.println(calls + " " + cpu);
    }
  }

  private static void work(boolean reads, String file, int spins) {
    try {
      if (reads) {
        read(file, spins);
      } else {
        write(file, spins);
      }
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void read(String path, int spins) throws IOException {
    byte[] bytes = new byte[64];
    while (true) {
      try (FileInputStream in = new FileInputStream(path)) {
        while (in.read(bytes) > 0) {
          spin(spins);
        }
      }
    }
  }

  private static void write(String path, int spins) throws IOException {
    while (true) {
      FSDataOutputStream out =
          new FSDataOutputStream(
              new BufferedOutputStream(new FileOutputStream(path), 1 << 16), null);
      for (int i = 0; i < 1 << 22; i++) {
        out.write(i);
        spin(spins);
      }
      out.close();
    }
  }

  private static void spin(int rounds) {
    long value = sink;
    for (int i = 0; i < rounds; i++) {
      value = value * 6364136223846793005L + 1442695040888963407L;
    }
    sink = value;
    calls = calls + 1;
  }
}
