package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import java.io.File;
import java.io.IOException;

/**
 * {@code dir=D[,run=R][,quiet][,cap=BYTES][,pid=N][,answer=FILE]}, or {@code detach[,answer=FILE]}.
 */
final class AgentOptions {
  String dir = "/dev/shm/iostrata";
  String run = "";

  /** Bytes of all segments; 0: what the recorder thinks right. */
  long capBytes;

  /** What the collector calls this process, when it has a namespace of its own; 0: as we do. */
  int pid;

  /** End what is attached instead of attaching. */
  boolean detach;

  /** No line where all is well: the recorder of the run says what was traced. */
  boolean quiet;

  /** A file of who asked, for what came of it; empty: nobody waits. */
  String answer = "";

  /**
   * @param text as written behind the agent's jar; null for none
   * @throws IOException an option has another name or form
   */
  void parse(String text) throws IOException {
    String rest = text == null ? "" : text;
    while (!rest.isEmpty()) {
      int comma = rest.indexOf(',');
      String option = comma < 0 ? rest : rest.substring(0, comma);
      rest = comma < 0 ? "" : rest.substring(comma + 1);
      set(option);
    }
  }

  Recorder.Options recorder() {
    Recorder.Options to = new Recorder.Options();
    to.dir = new File(dir).toPath();
    to.pid = pid;
    to.capBytes = capBytes;
    return to;
  }

  private void set(String option) throws IOException {
    int equals = option.indexOf('=');
    String value = option.substring(equals + 1);
    if (option.startsWith("dir=") && !value.isEmpty()) {
      dir = value;
    } else if (option.startsWith("run=")) {
      run = value;
    } else if (option.startsWith("answer=")) {
      answer = value;
    } else if (option.startsWith("pid=")) {
      pid = (int) number(option, value);
    } else if (option.equals("quiet")) {
      quiet = true;
    } else if (option.equals("detach")) {
      detach = true;
    } else if (option.startsWith("cap=")) {
      capBytes = number(option, value);
    } else {
      throw new IOException("option " + option + " is none of dir=DIRECTORY, run=RUN, cap=BYTES");
    }
  }

  private static long number(String option, String value) throws IOException {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IOException(option + " is no number", e);
    }
  }
}
