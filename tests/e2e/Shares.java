import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Threads that read a file and then compute, or sleep, for so long: {@code FILE}. One ends before the
 * program does, one lives on. Prints what the JVM says that each took: name, TAB, ns of CPU.
 */
public final class Shares {
  private static final long SECOND = 1_000_000_000;

  private Shares() {}

  public static void main(String[] arguments) throws Exception {
    Thread ends = thread("computes and ends", arguments[0], SECOND, 0);
    Thread sleeps = thread("computes and sleeps", arguments[0], SECOND / 10, 3000);
    Thread lives = thread("lives on", arguments[0], SECOND / 2, 60_000);
    lives.setDaemon(true);
    for (Thread each : new Thread[] {ends, sleeps, lives}) {
      each.start();
    }
    ends.join();
    sleeps.join();
    Thread.sleep(1000); // the other has computed by now, too
  }

  private static Thread thread(String name, String file, long cpu, long millis) {
    return new Thread(() -> work(file, cpu, millis), name);
  }

  private static void work(String file, long cpu, long millis) {
    try {
      Files.readAllBytes(Paths.get(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    while (cpu() < cpu) {
      Math.sqrt(cpu());
    }
    System.out.println(Thread.currentThread().getName() + "\t" + cpu());
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
