import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads the classes that a file names, one a line, without initialising them, and ends.
 *
 * <pre>StartUp FILE</pre>
 */
public final class StartUp {
  private StartUp() {}

  public static void main(String[] args) throws Exception {
    int found = 0;
    ClassLoader loader = StartUp.class.getClassLoader();
    for (String name : Files.readAllLines(Path.of(args[0]))) {
      try {
        Class.forName(name, false, loader);
        found++;
      } catch (ClassNotFoundException ofAnotherVersion) {
        continue;
      }
    }
    System.out.println(found);
  }
}
