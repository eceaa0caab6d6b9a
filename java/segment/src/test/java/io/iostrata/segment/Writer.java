package io.iostrata.segment;

import java.nio.file.Path;

/**
 * The traced process of the tests: {@code MODE DIR CALLS CAP}. Each call has its number as bytes
 * and offset, and their sum with the number of its thread as asked, so that a reader can tell a
 * whole slot from a torn one.
 */
final class Writer {
  static final int THREADS = 2;

  private Writer() {}

  public static void main(String[] args) throws Exception {
    Recorder.Options options = Points.options(Path.of(args[1]));
    options.capBytes = Long.parseLong(args[3]);
    Recorder recorder = Recorder.open(options);
    long calls = Long.parseLong(args[2]);
    Thread[] threads = new Thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
      int number = t;
      threads[t] = new Thread(() -> write(recorder, number, calls));
      threads[t].start();
    }
    while (args[0].equals("churn") && alive(threads)) {
      churn();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    recorder.close();
  }

  static void write(Recorder recorder, int number, long calls) {
    long target = recorder.name(Schema.CATEGORY_FILE, "/thread-" + number);
    ThreadLog log = recorder.thread();
    for (long i = 1; i <= calls; i++) {
      log.enter(Points.JAVA_READ, target, asked(number, i), i);
      log.exit(i, 0, 0);
    }
  }

  static long asked(long number, long i) {
    return 2 * i + number & 0xFFFFFFFFL;
  }

  private static boolean alive(Thread[] threads) {
    for (Thread thread : threads) {
      if (thread.isAlive()) {
        return true;
      }
    }
    return false;
  }

  private static Object garbage;

  private static void churn() {
    for (int i = 0; i < 100; i++) {
      garbage = new byte[100_000];
    }
    System.gc();
  }
}
