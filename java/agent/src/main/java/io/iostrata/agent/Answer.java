package io.iostrata.agent;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

/** What an attachment or its end came to: one line for people, key=value lines for who asked. */
final class Answer {
  private String line = "";
  private final StringBuilder facts = new StringBuilder();

  void line(String text) {
    line = text;
  }

  void refuse(Throwable e) {
    String why = e instanceof IOException ? e.getMessage() : e.toString();
    line = "not tracing: " + why;
    facts.append("refused=").append(oneLine(why)).append('\n');
  }

  void fact(String key, Object value) {
    facts.append(key).append('=').append(oneLine(String.valueOf(value))).append('\n');
  }

  /** Facts as written by {@link #fact}: from an agent that may be of another version. */
  void facts(String lines) {
    facts.append(lines);
  }

  String facts() {
    return facts.toString();
  }

  /**
   * @param path of a file that who asked has made; empty for nobody. It is not made here: somebody
   *     else's option may name any path.
   * @return the line for people
   */
  String give(String path) {
    try {
      write(path);
    } catch (Throwable e) {
      // who asked finds an empty file, and says so
    }
    return line;
  }

  private void write(String path) throws IOException {
    if (path.isEmpty() || !new File(path).isFile()) {
      return;
    }
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try (RandomAccessFile file = new RandomAccessFile(path, "rw")) {
      String all = facts + "line=" + oneLine(line) + "\n";
      file.write(all.getBytes(StandardCharsets.UTF_8));
    } finally {
      probe.busy = busy;
    }
  }

  private static String oneLine(String text) {
    return text.replace('\n', ' ').replace('\r', ' ');
  }
}
