package io.iostrata.segment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * CPU ns of one recorded call, the consumer draining at 1 ms.
 *
 * <pre>mvn -q test-compile
 * java -cp target/classes:target/test-classes io.iostrata.segment.AppendCost [DIR]</pre>
 *
 * The append (row and slot) is "enter+exit" less "enter+drop", the open-span stack.
 *
 * <p>Prints one JSON line per case: {@code case}, {@code threads}, {@code ns} per call of a thread
 * (median of 9 batches of 4 M calls, thread CPU time), {@code min}, {@code gaps}.
 */
final class AppendCost {
  /** What the target of a counted-only call is found by. */
  private static final Object FILE = "a stream";

  private static final int CALLS = 4_000_000;
  private static final int WARM_UP = 4;
  private static final int BATCHES = 9;

  private interface Call {
    void run(ThreadLog log, long target, int i);
  }

  public static void main(String[] args) throws Exception {
    Path dir = Files.createTempDirectory(Path.of(args.length > 0 ? args[0] : "/dev/shm"), "cost-");
    try {
      for (int threads = 1; threads <= 2; threads++) {
        measure(dir, "enter+exit", threads, false, AppendCost::call);
        measure(dir, "enter+exit, fake clock", threads, true, AppendCost::call);
        measure(dir, "enter+drop, fake clock", threads, true, AppendCost::drop);
        measure(dir, "counted-only call", threads, false, AppendCost::counted);
        measure(dir, "clock pair", threads, false, (log, target, i) -> clocks());
      }
    } finally {
      delete(dir);
    }
  }

  private static long sink;

  private static void clocks() {
    long start = System.nanoTime();
    sink = System.nanoTime() - start;
  }

  private static void call(ThreadLog log, long target, int i) {
    log.enter(Points.JAVA_READ, target, 4096, i);
    log.exit(4096, 0, 0);
  }

  private static void drop(ThreadLog log, long target, int i) {
    log.enter(Points.JAVA_READ, target, 4096, i);
    log.drop();
  }

  private static void counted(ThreadLog log, long target, int i) {
    log.enterCounted(Points.COUNTED_WRITE, target, FILE, 1, 1);
    log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
  }

  private static void measure(Path dir, String name, int threads, boolean fakeClock, Call call)
      throws Exception {
    Path own = Files.createTempDirectory(dir, "case-");
    Recorder.Options options = Points.options(own);
    if (fakeClock) {
      options.clock = new FakeClock();
    }
    Recorder recorder = Recorder.open(options);
    AtomicBoolean stop = new AtomicBoolean();
    TraceReader reader = new TraceReader(TraceReader.processes(own).get(0), false);
    Thread consumer = new Thread(() -> drain(reader, stop));
    consumer.start();

    double[][] ns = new double[threads][];
    CountDownLatch start = new CountDownLatch(threads);
    Thread[] producers = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      int number = t;
      producers[t] = new Thread(() -> ns[number] = batches(recorder, call, start));
      producers[t].start();
    }
    for (Thread producer : producers) {
      producer.join();
    }
    stop.set(true);
    consumer.join();
    double[] all = Arrays.stream(ns).flatMapToDouble(Arrays::stream).sorted().toArray();
    System.out.printf(
        "{\"case\":\"%s\",\"threads\":%d,\"ns\":%.1f,\"min\":%.1f,\"slots\":%d,\"gaps\":%d}%n",
        name, threads, all[all.length / 2], all[0], reader.slotCount(), reader.gaps());
    recorder.close();
  }

  private static double[] batches(Recorder recorder, Call call, CountDownLatch start) {
    long target = recorder.name(Schema.CATEGORY_FILE, "/data/" + Thread.currentThread().getId());
    ThreadLog log = recorder.thread();
    start.countDown();
    double[] ns = new double[BATCHES];
    for (int batch = -WARM_UP; batch < BATCHES; batch++) {
      long before = cpuNanos();
      for (int i = 0; i < CALLS; i++) {
        call.run(log, target, i);
      }
      if (batch >= 0) {
        ns[batch] = (double) (cpuNanos() - before) / CALLS;
      }
    }
    return ns;
  }

  private static long cpuNanos() {
    return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void drain(TraceReader reader, AtomicBoolean stop) {
    try {
      while (!stop.get()) {
        reader.poll();
        Thread.sleep(1);
      }
      reader.poll();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void delete(Path dir) throws IOException {
    try (Stream<Path> paths = Files.walk(dir)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Costs nothing, so that what is left is ours. */
  private static final class FakeClock implements java.util.function.LongSupplier {
    private long time;

    @Override
    public long getAsLong() {
      return time += 10;
    }
  }
}
