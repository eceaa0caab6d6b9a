import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;

/**
 * Levels FOLDER CALLS NAME...: writes and reads each file by that many calls of one byte. With
 * CALLS 0 it writes to the first, and says so, until its input ends.
 */
public final class Levels {
  private Levels() {}

  public static void main(String[] arguments) throws Exception {
    int calls = Integer.parseInt(arguments[1]);
    if (calls == 0) {
      writeUntilInputEnds(new File(arguments[0], arguments[2]));
      return;
    }
    for (int i = 2; i < arguments.length; i++) {
      writeAndRead(new File(arguments[0], arguments[i]), calls);
    }
  }

  private static void writeAndRead(File file, int calls) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file)) {
      for (int i = 0; i < calls; i++) {
        out.write(i);
      }
    }
    try (FileInputStream in = new FileInputStream(file)) {
      for (int i = 0; i < calls; i++) {
        in.read();
      }
    }
  }

  private static void writeUntilInputEnds(File file) throws Exception {
    long written = 0;
    try (FileOutputStream out = new FileOutputStream(file)) {
      while (System.in.available() == 0) {
        out.write(1);
        written++;
        Thread.sleep(5);
      }
    }
    System.out.println(written);
  }
}
