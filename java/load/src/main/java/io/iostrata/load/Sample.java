package io.iostrata.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** What all clients moved at a point, from the first begin to the last end. */
final class Sample {
  private static final long WARM_SIZE = 1 << 20;
  private static final int WARM_TIMES = 4;

  /** How long a copy may be on its way to the list of those that there are, ns. */
  private static final long COPIES_MOST = 10_000_000_000L;

  private final Configuration configuration;
  private final Path folder;
  private final Point point;
  private final int clients;
  private final int first;

  private final List<FileSystem> opened = new ArrayList<>();

  /** What is passed when all is warm, before the clock starts. */
  interface Gate {
    void pass() throws IOException, InterruptedException;
  }

  /** {@code first}: number of the first of the clients. */
  Sample(Configuration configuration, Path folder, Point point, int clients, int first) {
    this.configuration = configuration;
    this.folder = folder;
    this.point = point;
    this.clients = clients;
    this.first = first;
  }

  /** File of a client: one that is read stays, with each number of copies. */
  Path file(int client) {
    String copies = point.copies == 0 ? "" : "." + point.copies;
    return new Path(folder, (point.reads ? "read." : "write.") + (first + client) + copies);
  }

  private Path warmFile(int client) {
    return new Path(folder, "warm." + (first + client));
  }

  /** Bytes and ns; {@code most}: ns that it may take. */
  long[] take(long most, Gate gate) throws IOException, InterruptedException {
    ExecutorService pool = Executors.newFixedThreadPool(clients);
    try {
      warm(pool);
      gate.pass();
      CyclicBarrier start = new CyclicBarrier(clients);
      List<Callable<Client>> all = new ArrayList<>();
      for (int number = 0; number < clients; number++) {
        Client client = new Client(files(number), file(number), point, most);
        all.add(
            () -> {
              start.await();
              return client.run();
            });
      }
      return total(pool.invokeAll(all));
    } finally {
      pool.shutdown();
      for (int client = 0; !point.reads && client < opened.size(); client++) {
        opened.get(client).delete(file(client), false);
      }
      for (FileSystem files : opened) {
        files.close();
      }
    }
  }

  /** Each client is one of its own to the servers, as tasks are. */
  private FileSystem files(int client) throws IOException {
    if (client == opened.size()) {
      opened.add(FileSystem.newInstance(folder.toUri(), configuration));
    }
    return opened.get(client);
  }

  /** Classes are loaded and connections made before the clock starts. */
  private void warm(ExecutorService pool) throws IOException, InterruptedException {
    Point made = new Point(false, "sequential", WARM_SIZE, point.request, point.copies);
    Point others = new Point(point.reads, point.access, WARM_SIZE, point.request, point.copies);
    List<Callable<Client>> all = new ArrayList<>();
    for (int turn = 0; turn < WARM_TIMES; turn++) {
      all.clear();
      for (int client = 0; client < clients; client++) {
        Point now = turn == 0 ? made : others;
        all.add(new Client(files(client), warmFile(client), now, Long.MAX_VALUE)::run);
      }
      total(pool.invokeAll(all));
    }
    checkCopies(warmFile(0));
    for (int client = 0; client < clients; client++) {
      files(client).delete(warmFile(client), false);
    }
  }

  /** HDFS takes a file with fewer copies than were asked for, and says nothing. */
  private void checkCopies(Path file) throws IOException, InterruptedException {
    int found = 0;
    for (long end = System.nanoTime() + COPIES_MOST; found < point.copies; Thread.sleep(50)) {
      BlockLocation[] blocks = files(0).getFileBlockLocations(file, 0, 1);
      found = blocks.length == 0 ? 0 : blocks[0].getNames().length;
      if (found < point.copies && System.nanoTime() > end) {
        throw new IOException(
            point.copies + " copies were asked for, and " + found + " made: say fewer copies");
      }
    }
  }

  private static long[] total(List<Future<Client>> done) throws IOException, InterruptedException {
    long bytes = 0;
    List<Client> all = new ArrayList<>();
    for (Future<Client> one : done) {
      try {
        all.add(one.get());
      } catch (ExecutionException error) {
        throw new IOException(error.getCause());
      }
    }
    long begin = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    long zero = all.get(0).begin; // times of nanoTime may be anything, differences are not
    for (Client client : all) {
      bytes += client.bytes;
      begin = Math.min(begin, client.begin - zero);
      end = Math.max(end, client.end - zero);
    }
    return new long[] {bytes, end - begin};
  }
}
