package io.iostrata.load;

import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The load of {@code iostrata profile} on a file system of Hadoop: {@code hadoop jar
 * iostrata-load.jar ACTION FOLDER …}. Answers with a line of JSON, or fails with a line that begins
 * with {@code iostrata: }.
 *
 * <pre>
 * space FOLDER                  bytes that are free there, and copies that are made of a file
 * begin FOLDER                  makes it; one that an earlier profile has left goes first
 * prepare FOLDER SIZE CLIENTS COPIES
 *                               makes the files that are read
 * measure FOLDER OPERATION ACCESS SIZE REQUEST CLIENTS SECONDS COPIES [CONTAINERS]
 * end FOLDER                    deletes it
 * </pre>
 *
 * COPIES of 0 are as many as the file system makes. With CONTAINERS, so many of YARN have CLIENTS
 * each, which all begin at the same time.
 */
public final class Main {
  private static final String MARK = "made-by-iostrata-profile";

  private final Configuration configuration = new Configuration();
  private final Path folder;
  private final FileSystem files;

  private Main(String folder) throws IOException {
    this.folder = new Path(folder);
    files = this.folder.getFileSystem(configuration);
  }

  /**
   * @param arguments the action, its folder, and what it needs
   */
  public static void main(String[] arguments) {
    int code = 0;
    try {
      System.out.println(answer(arguments));
    } catch (Exception error) {
      code = 1;
      System.err.println("iostrata: " + line(error));
    }
    System.exit(code); // clients of some file systems leave threads behind
  }

  /** What went wrong, in one line: wrappers that say nothing of their own are left out. */
  private static String line(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null && saysNothing(cause)) {
      cause = cause.getCause();
    }
    String said = String.valueOf(cause.getMessage()).split("\n")[0];
    return cause.getClass().getSimpleName() + ": " + said;
  }

  private static boolean saysNothing(Throwable error) {
    String said = error.getMessage();
    return said == null || said.equals(error.getCause().toString());
  }

  static String answer(String... words) throws IOException, InterruptedException {
    if (words.length < 2) {
      throw new IllegalArgumentException("no action and folder");
    }
    return new Main(words[1]).act(words);
  }

  private String act(String[] words) throws IOException, InterruptedException {
    switch (words[0]) {
      case "space":
        return space();
      case "begin":
        return begin();
      case "prepare":
        return prepare(
            Long.parseLong(words[2]), Integer.parseInt(words[3]), Integer.parseInt(words[4]));
      case "measure":
        return measure(words);
      case "end":
        files.delete(folder, true);
        return "{}";
      default:
        throw new IllegalArgumentException("no action " + words[0]);
    }
  }

  private String space() throws IOException {
    Path above = folder.getParent();
    if (!files.getFileStatus(above).isDirectory()) {
      throw new IOException(above + " is no folder");
    }
    long free = files.getStatus(above).getRemaining();
    return "{\"free\": " + free + ", \"copies\": " + files.getDefaultReplication(folder) + "}";
  }

  private String begin() throws IOException {
    Path mark = new Path(folder, MARK);
    if (files.exists(folder) && !files.exists(mark)) {
      throw new IOException(folder + " is there already, and is not ours");
    }
    files.delete(folder, true);
    files.mkdirs(folder);
    files.create(mark).close();
    return "{}";
  }

  private String prepare(long size, int clients, int copies) throws IOException {
    Point reads = new Point(true, "sequential", size, 1 << 20, copies);
    Sample read = new Sample(configuration, folder, reads, clients, 0);
    for (int client = 0; client < clients; client++) {
      Path file = read.file(client);
      if (!files.exists(file) || files.getFileStatus(file).getLen() < size) {
        Point writes = new Point(false, "sequential", size, 1 << 20, copies);
        new Client(files, file, writes, Long.MAX_VALUE).run();
      }
    }
    return "{}";
  }

  private String measure(String[] words) throws IOException, InterruptedException {
    Order order = Order.of(Arrays.copyOfRange(words, 2, 9));
    long[] found =
        words.length > 9
            ? new Containers(configuration, folder, order, Integer.parseInt(words[9])).take()
            : order.sample(configuration, folder, 0).take(order.most, () -> {});
    return String.format(Locale.ROOT, "{\"bytes\": %d, \"nanos\": %d}", found[0], found[1]);
  }
}
