import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * CPU ns of one {@code FileInputStream.read} of 64 bytes of /dev/zero, for calls.py: {@code CALLS}
 * a batch. Prints the median of the batches.
 */
public final class Calls {
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static final int WARM_UP = 3;
  private static final int BATCHES = 9;

  private Calls() {}

  public static void main(String[] arguments) throws Exception {
    int calls = Integer.parseInt(arguments[0]);
    double[] nanos = new double[BATCHES];
    try (FileInputStream in = new FileInputStream("/dev/zero")) {
      for (int batch = -WARM_UP; batch < BATCHES; batch++) {
        long start = CPU.getCurrentThreadCpuTime();
        read(in, calls);
        long taken = CPU.getCurrentThreadCpuTime() - start;
        if (batch >= 0) {
          nanos[batch] = (double) taken / calls;
        }
        Thread.sleep(100); // the collector drains the ring
      }
    }
    Arrays.sort(nanos);
    System.out.println("{\"ns\": " + nanos[BATCHES / 2] + "}");
  }

  private static void read(FileInputStream in, int calls) throws IOException {
    byte[] bytes = new byte[64];
    for (int i = 0; i < calls; i++) {
      in.read(bytes);
    }
  }
}
