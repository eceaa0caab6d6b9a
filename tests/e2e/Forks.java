import java.io.FileInputStream;
import java.io.IOException;

/**
 * Reads a file before and after native code has forked, and five times as often in the child, which
 * calls no exec: `Forks LIBRARY FILE CALLS MILLIS`. The child lives on for that long.
 */
public final class Forks {
  /** As fork(2). */
  private static native int fork();

  /** Ends the child as it is: no Java, no handlers of exit. */
  private static native void end(int millis);

  /** The status with which the child has ended. */
  private static native int await(int pid);

  public static void main(String[] args) throws Exception {
    System.load(args[0]);
    int calls = Integer.parseInt(args[2]);
    try (FileInputStream in = new FileInputStream(args[1])) {
      read(in, calls);
      int pid = fork();
      if (pid == 0) {
        read(in, 5 * calls);
        end(Integer.parseInt(args[3]));
      }
      int status = await(pid);
      read(in, calls);
      System.out.println("child " + status);
    }
  }

  private static void read(FileInputStream in, int calls) throws IOException {
    byte[] buffer = new byte[16];
    for (int i = 0; i < calls; i++) {
      in.read(buffer, 0, buffer.length);
    }
  }
}
