import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;

/** Hands lines to a program that is slow, and reads its answers, as Hadoop Streaming does. */
public final class Children {
  private static final int LINES = 20;
  private static final String SLOW = "while read line; do sleep 0.1; echo $line; done";

  public static void main(String[] arguments) throws Exception {
    Process child = new ProcessBuilder("sh", "-c", SLOW).start();
    Thread reader = new Thread(() -> read(child), "answers");
    reader.start();
    try (OutputStream out = child.getOutputStream()) {
      for (int n = 0; n < LINES; n++) {
        out.write(("line " + n + "\n").getBytes());
        out.flush();
      }
    }
    int code = child.waitFor();
    reader.join();
    System.exit(code);
  }

  private static void read(Process child) {
    try (BufferedReader in = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
      while (in.readLine() != null) {}
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
