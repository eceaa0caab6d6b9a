import java.io.FileOutputStream;
import java.util.concurrent.CountDownLatch;

/** Threads that append 16 bytes per call, each to a file of its own, until killed or done. */
public final class Appends {
  private Appends() {}

  public static void main(String[] args) throws Exception {
    String prefix = args[0];
    int threads = Integer.parseInt(args[1]);
    long calls = Long.parseLong(args[2]);
    CountDownLatch done = new CountDownLatch(threads);
    for (int i = 0; i < threads; i++) {
      String path = prefix + i;
      new Thread(() -> append(path, calls, done), "appends-" + i).start();
    }
    done.await();
    System.out.println("done");
  }

  private static void append(String path, long calls, CountDownLatch done) {
    byte[] record = new byte[16];
    try (FileOutputStream out = new FileOutputStream(path)) {
      for (long n = 0; n < calls; n++) {
        out.write(record);
      }
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    } finally {
      done.countDown();
    }
  }
}
