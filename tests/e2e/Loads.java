import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * {@code Loads JAR OUT JCMD}: loads all classes of a jar that is on the class path, without running
 * anything of them, and writes what the JVM's own counters say then.
 */
public final class Loads {
  private Loads() {}

  public static void main(String[] arguments) throws Exception {
    System.out.println(load(arguments[0]) > 0 ? "loaded" : "nothing loaded");
    String pid = ManagementFactory.getRuntimeMXBean().getName().split("@")[0];
    ProcessBuilder asks = new ProcessBuilder(arguments[2], pid, "PerfCounter.print");
    System.exit(asks.redirectOutput(new File(arguments[1])).start().waitFor());
  }

  private static int load(String jar) throws IOException {
    int loaded = 0;
    try (ZipFile zip = new ZipFile(jar)) {
      for (ZipEntry entry : Collections.list(zip.entries())) {
        String name = entry.getName().replace('/', '.');
        if (name.endsWith(".class") && !name.startsWith("META-INF")) {
          loaded += isLoaded(name.substring(0, name.length() - ".class".length())) ? 1 : 0;
        }
      }
    }
    return loaded;
  }

  private static boolean isLoaded(String name) {
    try {
      Class.forName(name, false, Loads.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false; // of an optional library
    }
  }
}
