package io.iostrata.load;

import java.io.IOException;
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
 * prepare FOLDER SIZE CLIENTS   makes the files that are read
 * measure FOLDER OPERATION ACCESS SIZE REQUEST CLIENTS SECONDS
 * end FOLDER                    deletes it
 * </pre>
 */
public final class Main {
  private static final String MARK = "made-by-iostrata-profile";
  private static final double NANOS = 1e9;

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
        return prepare(Long.parseLong(words[2]), Integer.parseInt(words[3]));
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

  private String prepare(long size, int clients) throws IOException, InterruptedException {
    Point reads = new Point(true, "sequential", size, 1 << 20);
    Sample read = new Sample(configuration, folder, reads, clients);
    for (int client = 0; client < clients; client++) {
      Path file = read.file(client);
      if (!files.exists(file) || files.getFileStatus(file).getLen() < size) {
        Point writes = new Point(false, "sequential", size, 1 << 20);
        new Client(files, file, writes, Long.MAX_VALUE).run();
      }
    }
    return "{}";
  }

  private String measure(String[] words) throws IOException, InterruptedException {
    boolean reads = words[2].equals("read");
    long size = Long.parseLong(words[4]);
    Point point = new Point(reads, words[3], size, Integer.parseInt(words[5]));
    Sample sample = new Sample(configuration, folder, point, Integer.parseInt(words[6]));
    long[] found = sample.take((long) (Double.parseDouble(words[7]) * NANOS));
    return String.format(Locale.ROOT, "{\"bytes\": %d, \"nanos\": %d}", found[0], found[1]);
  }
}
