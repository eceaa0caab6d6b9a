package io.iostrata.segment;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Who this process is, as the kernel says. */
final class ThisProcess {
  private static final Path PROC = Paths.get("/proc/self");
  private static final int USER_FIELD = 14;
  private static final int START_FIELD = 22;

  /** USER_HZ, the unit of times in /proc: 100 on every machine that Java runs on. */
  private static final long TICK_NANOS = 10_000_000;

  private ThisProcess() {}

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

  /** ns of CPU that all threads of the process have taken, in steps of 10 ms. */
  static long cpu() throws IOException {
    return cpu(line("/proc/self/stat"));
  }

  /** ns of CPU that the current thread has taken. */
  static long threadCpu() throws IOException {
    String line;
    try {
      line = line("/proc/thread-self/schedstat");
    } catch (IOException e) {
      return cpu(line("/proc/thread-self/stat")); // a kernel without CONFIG_SCHED_INFO
    }
    return Long.parseLong(line.substring(0, line.indexOf(' ')));
  }

  /** Fields 14 and 15. */
  static long cpu(String stat) {
    return (Long.parseLong(field(stat, USER_FIELD)) + Long.parseLong(field(stat, USER_FIELD + 1)))
        * TICK_NANOS;
  }

  /** The second of the four numbers of the line `Uid:`. */
  static int uid(String status) {
    int at = status.indexOf("\nUid:\t") + "\nUid:\t".length();
    int second = status.indexOf('\t', at) + 1;
    return Integer.parseInt(status.substring(second, status.indexOf('\t', second)));
  }

  /** Field 22; the command name in field 2 may hold spaces and parentheses. */
  static long start(String stat) {
    return Long.parseLong(field(stat, START_FIELD));
  }

  private static String field(String stat, int number) {
    int at = stat.lastIndexOf(')') + 1;
    for (int field = 2; field < number; field++) {
      at = stat.indexOf(' ', at) + 1;
    }
    return stat.substring(at, stat.indexOf(' ', at));
  }

  /** The first line; cheaper than {@link #text}, for what is read once a second. */
  private static String line(String path) throws IOException {
    byte[] bytes = new byte[512];
    try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
      int size = Math.max(0, file.read(bytes));
      return new String(bytes, 0, size, StandardCharsets.ISO_8859_1);
    }
  }

  private static String text(String file) throws IOException {
    return new String(Files.readAllBytes(PROC.resolve(file)), StandardCharsets.UTF_8);
  }
}
