import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Writes one byte to each of many files, one after the other. */
public final class ManyFiles {
  private ManyFiles() {}

  public static void main(String[] args) throws Exception {
    int files = Integer.parseInt(args[1]);
    for (int i = 0; i < files; i++) {
      String path = args[0] + "/a-file-with-a-name-of-some-length-" + i;
      try (FileOutputStream out = new FileOutputStream(path)) {
        out.write(1);
      }
      Files.delete(Paths.get(path));
      if (i % 50 == 0) {
        Thread.sleep(10); // some 5,000 names a second
      }
    }
  }
}
