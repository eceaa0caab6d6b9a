package io.iostrata.segment;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;

/** What CPU this process takes, as the kernel says. */
final class ThisProcess {
  private static final int USER_FIELD = 14;

  /** USER_HZ, the unit of times in /proc: 100 on every machine that Java runs on. */
  private static final long TICK_NANOS = 10_000_000;

  private ThisProcess() {}

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

  private static String field(String stat, int number) {
    int at = stat.lastIndexOf(')') + 1;
    for (int field = 2; field < number; field++) {
      at = stat.indexOf(' ', at) + 1;
    }
    return stat.substring(at, stat.indexOf(' ', at));
  }

  /** The first line. */
  private static String line(String path) throws IOException {
    byte[] bytes = new byte[512];
    try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
      int size = Math.max(0, file.read(bytes));
      return new String(bytes, 0, size, StandardCharsets.ISO_8859_1);
    }
  }
}
