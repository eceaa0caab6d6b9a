import java.io.FileInputStream;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Reads 64 bytes at a time, for so many seconds as fast as it can, then for so many five times a
 * second. Arguments: FILE SECONDS SECONDS. Prints how many reads each part made, then when each of
 * the second was made, ms since the epoch.
 */
public final class Busy {
  private Busy() {}

  public static void main(String[] arguments) throws Exception {
    StringBuilder times = new StringBuilder();
    long fast = read(arguments[0], Integer.parseInt(arguments[1]), 0, times);
    long slow = read(arguments[0], Integer.parseInt(arguments[2]), 200, times);
    System.out.println(fast + " " + slow);
    System.out.println(times);
  }

  private static long read(String path, int seconds, int pause, StringBuilder times)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    byte[] bytes = new byte[64];
    long reads = 0;
    while (System.nanoTime() < end) {
      try (FileInputStream in = new FileInputStream(path)) {
        for (int i = 0; i < 1024 && System.nanoTime() < end; i++) {
          if (pause > 0) {
            times.append(System.currentTimeMillis()).append(' ');
          }
          in.read(bytes);
          reads++;
          if (pause > 0) {
            Thread.sleep(pause);
          }
        }
      }
    }
    return reads;
  }
}
