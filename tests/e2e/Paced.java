import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes so many bytes every 10 ms and says so in a line of 13 bytes, until a read of a pipe that
 * another thread waits in returns. Arguments: FILE PIPE BYTES.
 */
public final class Paced {
  private static volatile boolean goesOn = true;

  private Paced() {}

  public static void main(String[] arguments) throws Exception {
    Thread waits = new Thread(() -> waitFor(arguments[1]), "waits");
    waits.start();
    byte[] bytes = new byte[Integer.parseInt(arguments[2])];
    try (FileOutputStream file = new FileOutputStream(arguments[0]);
        FileOutputStream said = new FileOutputStream("/dev/stdout")) {
      for (long calls = 1; goesOn; calls++) {
        file.write(bytes);
        said.write(String.format("%012d%n", calls).getBytes(StandardCharsets.US_ASCII));
        Thread.sleep(10);
      }
    }
    waits.join();
  }

  private static void waitFor(String pipe) {
    try (FileInputStream in = new FileInputStream(pipe)) {
      in.read(new byte[64]);
    } catch (java.io.IOException error) {
      throw new java.io.UncheckedIOException(error);
    }
    goesOn = false;
  }
}
