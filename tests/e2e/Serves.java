import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.Callable;

/** A JVM that lives long and does what it is told, line by line, and answers each line. */
public final class Serves {
  private int packed;

  private Serves() {}

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    Serves serves = new Serves();
    System.out.println("ready");
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      System.out.println(serves.obey(words));
    }
  }

  private String obey(String[] words) throws Exception {
    int calls = Integer.parseInt(words[2]);
    if (words[0].equals("io")) {
      return "io " + io(words[1], calls);
    }
    if (words[0].equals("look")) {
      return "look " + looks(words[1], calls, Integer.parseInt(words[3]));
    }
    int bytes = 0;
    for (int i = 0; i < calls; i++) {
      bytes += words[0].equals("pack") ? pack(words[1], new byte[8]) : send(new byte[4], i);
    }
    return words[0] + " " + bytes;
  }

  /** Writes and reads 16 bytes, that often. */
  private static int io(String path, int calls) throws IOException {
    int read = 0;
    byte[] bytes = new byte[16];
    try (FileOutputStream out = new FileOutputStream(path)) {
      for (int i = 0; i < calls; i++) {
        out.write(bytes);
      }
    }
    try (FileInputStream in = new FileInputStream(path)) {
      for (int i = 0; i < calls; i++) {
        read += in.read(bytes);
      }
    }
    return read;
  }

  /** Looks for that many files, from a number on, each of another name; says how many are none. */
  private static int looks(String path, int calls, int first) {
    int none = 0;
    for (int i = 0; i < calls; i++) {
      try {
        look(path + (first + i));
      } catch (IOException e) {
        none++;
      }
    }
    return none;
  }

  private static void look(String path) throws IOException {
    new FileInputStream(path).close();
  }

  /** For points of users: a path, an array, a number returned, a field. */
  int pack(String path, byte[] bytes) {
    packed += bytes.length;
    return path.isEmpty() ? 0 : bytes.length / 2;
  }

  private static long send(byte[] bytes, int number) {
    if (number < 0) {
      throw new IllegalArgumentException("no such number");
    }
    return bytes.length;
  }

  /** Has what woven methods have: handlers, frames, monitors. */
  static synchronized Object choose(Callable<?> first, Object other, long number) {
    try {
      return number > 1 ? first.call() : other;
    } catch (Exception e) {
      return e.getMessage();
    } finally {
      number++;
    }
  }
}
