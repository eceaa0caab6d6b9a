import io.iostrata.agent.Hooks;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/**
 * CPU ns of one read on distinct open streams, and of the hooks alone where the agent is loaded.
 * micro.py runs it woven and not.
 *
 * <pre>Micro file DIRECTORY THREADS SIZE STREAMS
 * Micro hdfs hdfs://host:port/PATH THREADS SIZE STREAMS    (Hadoop on the class path)</pre>
 *
 * Prints a JSON line per case: {@code ns} is the median over the batches of all threads of the CPU
 * time of a call, {@code batches} holds all.
 */
public final class Micro {
  private static final int WARM_UP = 6;
  private static final int BATCHES = 15;
  private static final int CALLS = 400_000;
  private static final int FILE_BYTES = 1 << 20;

  /** What a batch moves at most through a DataNode. */
  private static final int HDFS_BATCH_BYTES = 64 << 20;

  // Points of java/points: FileInputStream.read(byte[],int,int), and one that has no target.
  private static final int WITH_TARGET = 3;
  private static final int WITHOUT_TARGET = 123;

  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
  private static volatile long sink;

  /** One batch: CPU ns for each call. */
  private interface Batch {
    double run() throws Exception;
  }

  private Micro() {}

  public static void main(String[] arguments) throws Exception {
    String kind = arguments[0];
    int threads = Integer.parseInt(arguments[2]);
    int size = Integer.parseInt(arguments[3]);
    int streams = Integer.parseInt(arguments[4]);
    boolean traced = isTraced();
    measure(kind + " read", traced, threads, size, streams, () -> reads(arguments, size, streams));
    measure("clock", traced, threads, size, streams, () -> Micro::clock);
    if (traced) {
      measure("hooks", true, threads, size, streams, () -> hooks(WITH_TARGET, streams));
      measure(
          "hooks without target", true, threads, size, streams, () -> hooks(WITHOUT_TARGET, 1));
    }
  }

  private static boolean isTraced() {
    try {
      return Hooks.on != 0;
    } catch (NoClassDefFoundError noAgent) {
      return false;
    }
  }

  private static void measure(
      String name, boolean traced, int threads, int size, int streams, Callable<Batch> batches)
      throws Exception {
    double[][] ns = new double[threads][BATCHES];
    Thread[] running = new Thread[threads];
    CountDownLatch ready = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      double[] mine = ns[t];
      running[t] =
          new Thread(
              () -> {
                try {
                  Batch batch = batches.call();
                  for (int i = 0; i < WARM_UP; i++) {
                    batch.run();
                  }
                  ready.countDown();
                  ready.await();
                  for (int i = 0; i < BATCHES; i++) {
                    mine[i] = batch.run();
                  }
                } catch (Exception e) {
                  e.printStackTrace();
                  System.exit(1);
                }
              });
      running[t].start();
    }
    for (Thread thread : running) {
      thread.join();
    }
    double[] all = Arrays.stream(ns).flatMapToDouble(Arrays::stream).sorted().toArray();
    System.out.printf(
        "{\"case\": \"%s\", \"traced\": %s, \"threads\": %d, \"size\": %d, \"streams\": %d,"
            + " \"ns\": %.1f, \"batches\": %s}%n",
        name, traced, threads, size, streams, all[all.length / 2], Arrays.toString(all));
  }

  /** Reads of {@code size} bytes, each on the next of the open streams. */
  private static Batch reads(String[] arguments, int size, int streams) throws Exception {
    boolean remote = arguments[0].equals("hdfs");
    Opener opener = remote ? hdfs(arguments[1]) : files(arguments[1]);
    int wanted = remote ? Math.min(CALLS, HDFS_BATCH_BYTES / size) : CALLS;
    InputStream[] open = new InputStream[streams];
    byte[] buffer = new byte[size];
    // So many reads and every stream is at its end.
    int passes = Math.min(opener.bytes() / size, Math.max(1, wanted / streams));
    return () -> {
      long cpu = 0;
      long calls = 0;
      while (calls < wanted) {
        for (int s = 0; s < streams; s++) {
          open[s] = opener.open(s);
        }
        long begin = CPU.getCurrentThreadCpuTime();
        for (int pass = 0; pass < passes; pass++) {
          for (int s = 0; s < streams; s++) {
            sink += open[s].read(buffer, 0, size);
          }
        }
        cpu += CPU.getCurrentThreadCpuTime() - begin;
        calls += (long) passes * streams;
        for (InputStream stream : open) {
          stream.close();
        }
      }
      return (double) cpu / calls;
    };
  }

  private interface Opener {
    InputStream open(int number) throws IOException;

    int bytes() throws IOException;
  }

  private static Opener files(String directory) throws IOException {
    Path own = Files.createTempDirectory(Path.of(directory), "micro");
    return new Opener() {
      @Override
      public InputStream open(int number) throws IOException {
        Path file = own.resolve("stream-" + number);
        if (!Files.exists(file)) {
          Files.write(file, new byte[FILE_BYTES]);
        }
        return new FileInputStream(file.toFile());
      }

      @Override
      public int bytes() {
        return FILE_BYTES;
      }
    };
  }

  /** By reflection, so that Hadoop is needed for this case only. */
  private static Opener hdfs(String uri) throws Exception {
    Class<?> configuration = Class.forName("org.apache.hadoop.conf.Configuration");
    Class<?> pathClass = Class.forName("org.apache.hadoop.fs.Path");
    Class<?> systemClass = Class.forName("org.apache.hadoop.fs.FileSystem");
    Object path = pathClass.getConstructor(String.class).newInstance(uri);
    Object system =
        pathClass
            .getMethod("getFileSystem", configuration)
            .invoke(path, configuration.getConstructor().newInstance());
    Object status = systemClass.getMethod("getFileStatus", pathClass).invoke(system, path);
    long length = (Long) status.getClass().getMethod("getLen").invoke(status);
    return new Opener() {
      @Override
      public InputStream open(int number) throws IOException {
        try {
          return (InputStream) systemClass.getMethod("open", pathClass).invoke(system, path);
        } catch (ReflectiveOperationException e) {
          throw new IOException(e.getCause());
        }
      }

      @Override
      public int bytes() {
        return (int) Math.min(length, FILE_BYTES);
      }
    };
  }

  /** What woven code does around a call that takes no time itself. */
  private static Batch hooks(int point, int streams) {
    String[] paths = new String[streams];
    for (int s = 0; s < streams; s++) {
      paths[s] = "/dev/shm/stream-" + s;
    }
    FileDescriptor descriptor = new FileDescriptor();
    return () -> {
      long begin = CPU.getCurrentThreadCpuTime();
      int s = 0;
      for (int i = 0; i < CALLS; i++) {
        if (Hooks.on != 0) {
          Hooks.enter(point, paths[s], descriptor, 4096, -1, 0);
        }
        Hooks.exit(4096, point);
        s = s + 1 == streams ? 0 : s + 1;
      }
      return (double) (CPU.getCurrentThreadCpuTime() - begin) / CALLS;
    };
  }

  private static double clock() {
    long begin = CPU.getCurrentThreadCpuTime();
    for (int i = 0; i < CALLS; i++) {
      long start = System.nanoTime();
      sink = System.nanoTime() - start;
    }
    return (double) (CPU.getCurrentThreadCpuTime() - begin) / CALLS;
  }
}
