package io.iostrata.jobs.tfidf;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Writes requests in the order of their indices, which several threads make. */
final class RequestFile {
  private static final int CHUNK = 500; // requests

  private RequestFile() {}

  static void write(RequestGenerator generator, long count, int threads, OutputStream out)
      throws IOException, InterruptedException {
    ExecutorService makers = Executors.newFixedThreadPool(threads);
    Queue<Future<byte[]>> made = new ArrayDeque<>();
    try {
      for (long first = 0; first < count || !made.isEmpty(); first += CHUNK) {
        if (first < count) {
          long from = first;
          long to = Math.min(count, first + CHUNK);
          made.add(makers.submit(() -> requests(generator, from, to)));
        }
        if (made.size() > 2 * threads || first + CHUNK >= count) {
          out.write(made.remove().get());
        }
      }
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      makers.shutdownNow();
    }
  }

  private static byte[] requests(RequestGenerator generator, long from, long to) {
    StringBuilder text = new StringBuilder((int) (to - from) * RequestGenerator.MEAN_SIZE);
    for (long index = from; index < to; index++) {
      text.append(generator.request(index));
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
