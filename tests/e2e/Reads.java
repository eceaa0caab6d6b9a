import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Writes and reads a file: `Reads FILE CALLS SIZE EXIT [MILLIS]`, sleeping for ever when EXIT is
 * -1, else that long.
 */
public final class Reads {
  public static void main(String[] args) throws Exception {
    int calls = Integer.parseInt(args[1]);
    byte[] buffer = new byte[Integer.parseInt(args[2])];
    try (FileOutputStream out = new FileOutputStream(args[0])) {
      for (int i = 0; i < calls; i++) {
        out.write(buffer, 0, buffer.length);
      }
    }
    long total = 0;
    try (FileInputStream in = new FileInputStream(args[0])) {
      int count;
      while ((count = in.read(buffer, 0, buffer.length)) > 0) {
        total += count;
      }
    }
    try {
      new FileInputStream(args[0] + ".absent").close();
    } catch (IOException expected) {
      System.err.println("absent");
    }
    System.out.println("read " + total);
    int exit = Integer.parseInt(args[3]);
    if (exit < 0) {
      System.out.flush();
      Thread.sleep(Long.MAX_VALUE);
    }
    if (args.length > 4) {
      Thread.sleep(Long.parseLong(args[4]));
    }
    System.exit(exit);
  }
}
