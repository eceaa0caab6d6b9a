package io.iostrata.agent;

import java.io.IOException;

/** {@code dir=D[,run=R][,cap=BYTES][,answer=FILE]}, or {@code detach[,answer=FILE]}. */
final class AgentOptions {
  String dir = "/dev/shm/iostrata";
  String run = "";

  /** Bytes of all segments; 0: what the recorder thinks right. */
  long capBytes;

  /** End what is attached instead of attaching. */
  boolean detach;

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

  private void set(String option) throws IOException {
    int equals = option.indexOf('=');
    String value = option.substring(equals + 1);
    if (option.startsWith("dir=") && !value.isEmpty()) {
      dir = value;
    } else if (option.startsWith("run=")) {
      run = value;
    } else if (option.startsWith("answer=")) {
      answer = value;
    } else if (option.equals("detach")) {
      detach = true;
    } else if (option.startsWith("cap=")) {
      capBytes = bytes(value);
    } else {
      throw new IOException("option " + option + " is none of dir=DIRECTORY, run=RUN, cap=BYTES");
    }
  }

  private static long bytes(String value) throws IOException {
    try {
      return Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IOException("cap=" + value + " is no number of bytes", e);
    }
  }
}
