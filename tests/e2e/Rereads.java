import java.io.FileInputStream;
import java.util.concurrent.TimeUnit;

/** Reads a file from its first byte to its end, again and again: `Rereads FILE SECONDS`. */
public final class Rereads {
  private Rereads() {}

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Integer.parseInt(args[1]));
    byte[] buffer = new byte[256 << 10];
    long passes = 0;
    for (; System.nanoTime() < end; passes++) {
      try (FileInputStream in = new FileInputStream(args[0])) {
        while (in.read(buffer) > 0) {
          // the bytes are of no use
        }
      }
    }
    System.out.println(passes);
  }
}
