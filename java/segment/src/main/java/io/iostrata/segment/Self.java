package io.iostrata.segment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Who this process is, as the kernel says. */
final class Self {
  private static final Path PROC = Paths.get("/proc/self");
  private static final int START_FIELD = 22;

  private Self() {}

  static int pid() throws IOException {
    String stat = text("stat");
    return Integer.parseInt(stat.substring(0, stat.indexOf(' ')));
  }

  /** The effective uid: the owner of the files we make. */
  static int uid() throws IOException {
    return uid(text("status"));
  }

  /** Start of the process in clock ticks since boot: tells apart two processes of one pid. */
  static long start() throws IOException {
    return start(text("stat"));
  }

  /** The second of the four numbers of the line `Uid:`. */
  static int uid(String status) {
    int at = status.indexOf("\nUid:\t") + "\nUid:\t".length();
    int second = status.indexOf('\t', at) + 1;
    return Integer.parseInt(status.substring(second, status.indexOf('\t', second)));
  }

  /** Field 22; the command name in field 2 may hold spaces and parentheses. */
  static long start(String stat) {
    int at = stat.lastIndexOf(')') + 1;
    for (int field = 2; field < START_FIELD; field++) {
      at = stat.indexOf(' ', at) + 1;
    }
    return Long.parseLong(stat.substring(at, stat.indexOf(' ', at)));
  }

  private static String text(String file) throws IOException {
    return new String(Files.readAllBytes(PROC.resolve(file)), StandardCharsets.UTF_8);
  }
}
