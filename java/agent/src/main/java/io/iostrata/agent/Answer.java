package io.iostrata.agent;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

/** What an attachment or its end came to: one line for people, key=value lines for who asked. */
final class Answer {
  private String line = "";
  private boolean well = true;
  private final StringBuilder facts = new StringBuilder();

  void line(String text) {
    line = text;
  }

  void refuse(Throwable e) {
    String why = e instanceof IOException ? e.getMessage() : e.toString();
    line = "not tracing: " + why;
    well = false;
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
   * @param options with the path of a file that who asked has made. It is not made here: somebody
   *     else's option may name any path.
   * @return the line for people; empty for none
   */
  String give(AgentOptions options) {
    try {
      write(options.answer);
    } catch (Throwable e) {
      // who asked finds an empty file, and says so
    }
    return well && options.quiet ? "" : line;
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
