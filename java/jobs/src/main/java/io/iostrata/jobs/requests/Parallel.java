package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/** Many files at a time. */
final class Parallel {
  private Parallel() {}

  /** What is done with a file. */
  interface Each {
    void accept(int number) throws IOException;
  }

  /** For 0 to {@code count} - 1; ends with the first that fails, and throws what it threw. */
  static void each(int count, int threads, Each each) throws IOException, InterruptedException {
    AtomicInteger next = new AtomicInteger();
    Callable<Void> some =
        () -> {
          for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
            each.accept(i);
          }
          return null;
        };
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<Void>> all = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        all.add(pool.submit(some));
      }
      for (Future<Void> one : all) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }
}
