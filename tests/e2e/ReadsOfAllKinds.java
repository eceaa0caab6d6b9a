import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Reads a file of data, its standard input, what a child sends back, and a class: FILE. */
public final class ReadsOfAllKinds {
  private ReadsOfAllKinds() {}

  /** Loaded when it is asked for, from a class file of its own. */
  static final class Loaded {}

  public static void main(String[] args) throws Exception {
    Files.readAllBytes(Paths.get(args[0]));
    while (System.in.read(new byte[100]) >= 0) {}
    Process child = new ProcessBuilder("cat").start();
    try (OutputStream to = child.getOutputStream();
        InputStream from = child.getInputStream()) {
      to.write(new byte[70]);
      to.close();
      while (from.read(new byte[100]) >= 0) {}
    }
    child.waitFor();
    new Loaded();
  }
}
