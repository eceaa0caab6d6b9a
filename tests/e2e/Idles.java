import java.util.concurrent.TimeUnit;

/**
 * Lives for some seconds. Arguments: HOW SECONDS. {@code sleep}: does nothing; {@code join}: its main
 * thread waits for another one that computes.
 */
public final class Idles {
  private Idles() {}

  public static void main(String[] arguments) throws Exception {
    long time = TimeUnit.SECONDS.toNanos(Integer.parseInt(arguments[1]));
    if (arguments[0].equals("sleep")) {
      Thread.sleep(TimeUnit.NANOSECONDS.toMillis(time));
      return;
    }
    Thread other = new Thread(() -> compute(time));
    other.start();
    other.join();
  }

  private static void compute(long time) {
    long end = System.nanoTime() + time;
    double sum = 0;
    while (System.nanoTime() < end) {
      sum += Math.sqrt(sum + 1);
    }
    System.out.println(sum > 0);
  }
}
