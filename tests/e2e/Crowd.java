import java.io.FileOutputStream;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that all begin at once, and append 16 bytes per call to a file of all of them: `Crowd FILE
 * THREADS CALLS`.
 */
public final class Crowd {
  private Crowd() {}

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[1]);
    int calls = Integer.parseInt(args[2]);
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(threads);
    try (FileOutputStream out = new FileOutputStream(args[0], true)) {
      for (int i = 0; i < threads; i++) {
        new Thread(null, () -> append(out, calls, begin, done), "crowd-" + i, 1 << 17).start();
      }
      begin.countDown();
      done.await();
    }
    System.out.println("done");
  }

  private static void append(
      FileOutputStream out, int calls, CountDownLatch begin, CountDownLatch done) {
    try {
      begin.await();
      for (int n = 0; n < calls; n++) {
        out.write(new byte[16]);
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      done.countDown();
    }
  }
}
