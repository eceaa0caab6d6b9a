import java.io.File;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes one byte to each of many files with long names, one after the other. It is never more than
 * one dictionary file ahead of the collector, however slow that is: each waits until it is freed.
 */
public final class ManyFiles {
  private static final int NAME = 200;
  private static final long PATIENCE_MS = 60_000;

  private ManyFiles() {}

  public static void main(String[] args) throws Exception {
    int files = Integer.parseInt(args[1]);
    Path traced = ownDirectory();
    for (int i = 0; i < files; i++) {
      StringBuilder name = new StringBuilder("a-file-with-a-name-" + i + "-");
      while (name.length() < NAME) {
        name.append('x');
      }
      File file = new File(args[0], name.toString());
      try (FileOutputStream out = new FileOutputStream(file)) {
        out.write(1);
      }
      Files.delete(file.toPath());
      if (i % 100 == 0) {
        awaitCollector(traced);
      }
    }
  }

  /** Where this process leaves its trace. */
  private static Path ownDirectory() throws Exception {
    Matcher option = Pattern.compile("dir=([^,]+)").matcher(System.getenv("JAVA_TOOL_OPTIONS"));
    option.find();
    String pid = Paths.get("/proc/self").toRealPath().getFileName().toString();
    try (Stream<Path> processes = Files.list(Paths.get(option.group(1), "0"))) {
      return processes
          .filter(one -> one.getFileName().toString().startsWith(pid + "-"))
          .findAny()
          .get();
    }
  }

  private static void awaitCollector(Path traced) throws Exception {
    long deadline = System.currentTimeMillis() + PATIENCE_MS;
    while (dictionaries(traced) > 1) {
      if (System.currentTimeMillis() > deadline) {
        throw new IllegalStateException("no dictionary was freed in " + PATIENCE_MS + " ms");
      }
      Thread.sleep(1);
    }
  }

  private static int dictionaries(Path traced) {
    return traced.toFile().list((folder, name) -> name.startsWith("dict-")).length;
  }
}
