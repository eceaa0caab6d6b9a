package io.iostrata.segment;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Random;
import java.util.function.LongSupplier;

/**
 * What a traced process writes: one per process. Opening throws; nothing else does. All methods may
 * be called from any thread.
 */
public final class Recorder implements Closeable {
  private static final int DICTIONARY_SHARE = 4;

  final Options options;
  final ProcessPage page;
  final Dictionary dictionary;
  final SegmentPool pool;

  /** Which calls are recorded individually. */
  public final Detail detail = new Detail();

  /** ns that a clock adds to what it measures. */
  public final long clockCost;

  /** Base context of all threads. */
  volatile int baseContext;

  /** Points that came later have higher ids: what is made from here on has room for them. */
  volatile int lastPoint = Schema.PROCESS_FIRST_USER_POINT - 1;

  private final ControlPage control;
  private final ThreadLocal<ThreadLog> logs = new ThreadLocal<>();
  private final LiveLogs live = new LiveLogs();
  private final ThreadLog rejecting;
  private volatile boolean closed;

  /** How to record. Only {@code dir}, {@code layerOfPoint} and {@code text} need to be given. */
  public static final class Options {
    /** The directory that the collector drains. */
    public Path dir = Paths.get("/dev/shm/iostrata");

    /** 64-bit name of this process; 0: a random positive one. */
    public long proc;

    /** 0: of this process. */
    public int pid;

    /** -1: the effective one of this process. */
    public int uid = -1;

    /** In clock ticks since boot, field 22 of /proc/PID/stat; 0: of this process. */
    public long pidStart;

    /** Lines key=value about the process; cut at 12,000 bytes. */
    public String text = "";

    /** Codes of {@code layer} by point id; 0: no such point. */
    public byte[] layerOfPoint = new byte[0];

    /** Identity of the point table: what agent and collector must agree on. */
    public long pointsHash = Schema.POINTS_HASH;

    /** Points whose open span is the scope of what they enclose; null: none. */
    public boolean[] scopeOfPoint;

    /** Points that write a {@code begin} slot at entry; null: none. */
    public boolean[] beginOfPoint;

    /**
     * Directions of bytes, 1 to 48: calls nested in one of the same direction are {@code covered}.
     * 0: the point carries no bytes. null: none does.
     */
    public byte[] directionOfPoint;

    /** Bytes of all segments; 0: 64 MiB or 1 % of the cgroup's memory limit, the smaller. */
    public long capBytes;

    /** How files are made; null: through the JDK. */
    public RecorderFiles files;

    /** CLOCK_MONOTONIC in ns; null: System.nanoTime. */
    public LongSupplier clock;

    /** Of what is drawn at random; 0: another each time. */
    public long seed;

    // Sizes of what is made first: tests shrink them.
    int ringSlots = 1024;
    int tableRows = 128;
    int dictionaryBytes = 256 << 10;
  }

  /**
   * Makes DIR/UID/PID-PROC with its process page.
   *
   * @throws IOException in one line: DIR is missing, read-only, full or another user's
   */
  public static Recorder open(Options options) throws IOException {
    try {
      complete(options);
      return new Recorder(options, directory(options));
    } catch (RuntimeException | LinkageError e) {
      throw new IOException("cannot record in " + options.dir + ": " + e, e);
    }
  }

  private static Path directory(Options options) throws IOException {
    String name = options.pid + "-" + TraceDirectory.hex(options.proc);
    return Paths.get(options.files.makeDirectory(options.dir.toString(), options.uid, name));
  }

  private static void complete(Options options) throws IOException {
    options.proc = options.proc != 0 ? options.proc : new Random().nextLong() >>> 1 | 1;
    options.files = options.files != null ? options.files : new JdkFiles();
    options.pid = options.pid != 0 ? options.pid : ThisProcess.pid();
    options.uid = options.uid >= 0 ? options.uid : ThisProcess.uid();
    options.pidStart = options.pidStart != 0 ? options.pidStart : ThisProcess.start();
    options.capBytes = options.capBytes != 0 ? options.capBytes : capBytes(MemoryLimit.bytes());
    options.seed = options.seed != 0 ? options.seed : System.nanoTime() ^ options.proc;
    int points = options.layerOfPoint.length;
    if (points > Schema.PROCESS_MAX_POINTS) {
      throw new IOException(points + " points, at most " + Schema.PROCESS_MAX_POINTS);
    }
    byte[] directions = options.directionOfPoint == null ? new byte[0] : options.directionOfPoint;
    options.scopeOfPoint = sized(options.scopeOfPoint, points);
    options.beginOfPoint = sized(options.beginOfPoint, points);
    options.directionOfPoint = Arrays.copyOf(directions, points);
  }

  /** Bytes of all segments where nobody says otherwise, in a cgroup of so much memory. */
  public static long capBytes(long memoryLimit) {
    return Math.min(64 << 20, memoryLimit / 100);
  }

  private static boolean[] sized(boolean[] flags, int size) {
    boolean[] all = new boolean[size];
    if (flags != null) {
      System.arraycopy(flags, 0, all, 0, Math.min(size, flags.length));
    }
    return all;
  }

  private Recorder(Options options, Path directory) throws IOException {
    this.options = options;
    control = new ControlPage(options.files, options.dir, options.uid);
    clockCost = options.clock == null ? clockCost() : 0;
    page = new ProcessPage(directory, options, now());
    long dictionaryFiles = options.capBytes / DICTIONARY_SHARE / options.dictionaryBytes;
    dictionary =
        new Dictionary(
            options.files,
            directory,
            options.proc,
            options.dictionaryBytes,
            (int) Math.max(2, Math.min(dictionaryFiles, 1 << 16)));
    pool = new SegmentPool(directory, options);
    rejecting = ThreadLog.rejecting(this);
    page.ready();
  }

  /** The least of several: any may be interrupted. */
  private static long clockCost() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 64; i++) {
      long start = System.nanoTime();
      least = Math.min(least, System.nanoTime() - start);
    }
    return least;
  }

  /** Three rows a point (outermost, inner, covered), so that no total is ever lost. */
  static int collapsedRows(byte[] layerOfPoint) {
    int points = 0;
    for (int i = 0; i < layerOfPoint.length; i++) {
      points += layerOfPoint[i] != 0 ? 1 : 0;
    }
    return points * 3;
  }

  long now() {
    return options.clock == null ? System.nanoTime() : options.clock.getAsLong();
  }

  /** The current thread's log. Never null, never throws. */
  public ThreadLog thread() {
    try {
      if (closed) {
        return rejecting;
      }
      ThreadLog log = logs.get();
      if (log == null) {
        log = new ThreadLog(this, Thread.currentThread());
        logs.set(log);
      }
      return log;
    } catch (Throwable e) {
      page.count(Schema.PROCESS_COUNTER_FAULTS, 1);
      return rejecting;
    }
  }

  /** {@link #name(int, String, int, long, long)} without parent and block. */
  public long name(int category, String name) {
    return name(category, name, 0, -1, -1);
  }

  /**
   * Handle of a target: id | category &lt;&lt; 32. The id is 0 when the entry could not be written,
   * which is counted.
   *
   * @param name cut at 4,096 bytes of UTF-8; null is empty
   * @param parent dictionary id, 0 none
   * @param block block id, -1 none
   * @param generation generation stamp, -1 none
   */
  public long name(int category, String name, int parent, long block, long generation) {
    long handle = (long) category << 32;
    ThreadLog log = thread();
    boolean busy = log.busy;
    log.busy = true; // making a file is I/O that may itself be traced
    try {
      int id = dictionary.id(category, name == null ? "" : name, parent, block, generation);
      if (id == 0) {
        page.count(Schema.PROCESS_COUNTER_REFUSED_ENTRIES, 1);
      }
      return handle | id & 0xFFFFFFFFL;
    } catch (Throwable e) {
      page.count(Schema.PROCESS_COUNTER_FAULTS, 1);
      page.count(Schema.PROCESS_COUNTER_REFUSED_ENTRIES, 1);
      return handle;
    } finally {
      log.busy = busy && log != rejecting;
    }
  }

  /** Dictionary id of a context; null fields are empty. 0 when it could not be written. */
  public int context(String run, String job, String task, String phase, String client) {
    String[] fields = {run, job, task, phase, client};
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < fields.length; i++) {
      name.append(i == 0 ? "" : "\t").append(fields[i] == null ? "" : fields[i].replace('\t', ' '));
    }
    return (int) name(Schema.CATEGORY_CONTEXT, name.toString());
  }

  /** Base context of every thread, from its next call on. */
  public void processContext(int id) {
    baseContext = id;
  }

  /** 64-bit name of this process. */
  public long proc() {
    return options.proc;
  }

  /** Base context of every thread; 0 none. */
  public int context() {
    return baseContext;
  }

  /** Adds to a {@code process_counter}. */
  public void count(int processCounter, long add) {
    page.count(processCounter, add);
  }

  /** Stores a {@code point_state}. */
  public void pointState(int point, int state) {
    page.pointState(point, state);
  }

  /**
   * From here on there is a point more, of a user: its id is the one after that of the last. Before
   * it is woven.
   *
   * @param name class#method and descriptor
   */
  public void addPoint(
      int id, byte layer, boolean scope, boolean begin, byte direction, String op, String name) {
    options.layerOfPoint[id] = layer;
    options.scopeOfPoint[id] = scope;
    options.beginOfPoint[id] = begin;
    options.directionOfPoint[id] = direction;
    name(Schema.CATEGORY_POINT, id + "\t" + layer + "\t" + op + "\t" + name);
    lastPoint = id;
  }

  /** Where runs are asked for. */
  public File runs() {
    return options.dir.resolve("runs").toFile();
  }

  /** A fault of ours that no point is to blame for. */
  public void complain(String message) {
    page.count(Schema.PROCESS_COUNTER_FAULTS, 1);
    name(Schema.CATEGORY_FAULT, "0\t" + message);
  }

  /** The effective uid of this process. */
  public int uid() {
    return options.uid;
  }

  /** A fault inside a point of ours: its state is faulted from now on. */
  public void fault(int point, String message) {
    page.fault(point);
    page.count(Schema.PROCESS_COUNTER_FAULTS, 1);
    name(Schema.CATEGORY_FAULT, point + "\t" + message);
  }

  /** Rereads DIR/control: its word, 0 (off) when there is none. */
  public int controlWord() {
    ThreadLog log = thread();
    boolean busy = log.busy;
    log.busy = true;
    try {
      return control.read();
    } catch (Throwable e) {
      page.count(Schema.PROCESS_COUNTER_FAULTS, 1);
      return 0;
    } finally {
      log.busy = busy && log != rejecting;
    }
  }

  /** True when the page read last switches the point off. */
  public boolean pointOff(int point) {
    return control.pointOff(point);
  }

  /** From here on as much is recorded individually as the page read last says. */
  public void follow() {
    detail.level(control.level());
    detail.sampling(control.sampling());
    detail.budgeted(control.budget() != 0);
  }

  /** Millionths of its CPU time that tracing may cost this process; 0: as much as it takes. */
  public int budget() {
    return control.budget();
  }

  /** ns of CPU that a slot costs the collector. */
  public int eventCost() {
    return control.eventCost();
  }

  /** Slots written so far; for the agent's own thread. */
  public long slots() {
    return live.slots();
  }

  /** ns of CPU that all threads of the process have taken, in steps of 10 ms. */
  public long cpu() throws IOException {
    return ThisProcess.cpu();
  }

  /** ns of CPU that the current thread has taken. */
  public long threadCpu() throws IOException {
    return ThisProcess.threadCpu();
  }

  /**
   * What tracing costs, for the process page. All in ns since the process started, while something
   * was recorded.
   *
   * @param cpu of the whole process
   * @param over time in which it cost more than allowed
   */
  public void account(long hooks, long thread, long collector, long cpu, long over) {
    page.cost(Schema.PROCESS_COST_HOOKS, hooks);
    page.cost(Schema.PROCESS_COST_THREAD, thread);
    page.cost(Schema.PROCESS_COST_COLLECTOR, collector);
    page.cost(Schema.PROCESS_CPU, cpu);
    page.cost(Schema.PROCESS_OVER, over);
  }

  /** For so many seconds the calls of the point were only summed for the budget. */
  public void summedFor(int point, int seconds) {
    page.summed(point, seconds);
  }

  /** Tells the collector that this word has been acted on. */
  public void acknowledge(int word) {
    page.acknowledge(word);
  }

  /** The current thread ends: seals its segment. Should it write again, it begins anew. */
  public void endThread() {
    ThreadLog log = logs.get();
    if (log == null) {
      return;
    }
    logs.remove();
    live.end(log);
  }

  /** Seals the segments of threads that have ended. For the agent's own thread, once a second. */
  public void sealDeadThreads() {
    live.endDead();
    page.flush();
  }

  /**
   * Seals what is complete and says that the process has ended; later calls are counted as lost.
   */
  @Override
  public void close() {
    closed = true;
    live.endAll(false);
    page.ended();
  }

  /**
   * The recording ends, the process goes on: {@link #close()}, and nothing is kept that the threads
   * of the host would keep alive. No call of a log may be under way.
   */
  public void detach() {
    closed = true;
    live.endAll(true);
    control.close();
    dictionary.release();
    pool.release();
    page.detached();
  }

  /** A log has its first segment. */
  void begun(ThreadLog log) {
    live.add(log);
  }
}
