package io.iostrata.segment;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Random;

/**
 * What a traced process writes, through the native writer: one per process. Opening throws; nothing
 * else does. All methods may be called from any thread.
 */
public final class Recorder implements Closeable {
  /** ns that a clock adds to what it measures. */
  public final long clockCost;

  private final Options options;
  private final int uid;

  /** Of the native process. */
  private final long handle;

  private final ControlPage control;
  private final ThreadLocal<ThreadLog> logs = new ThreadLocal<>();
  private final LiveLogs live = new LiveLogs();
  private final ThreadLog rejecting;
  private volatile int baseContext;
  private volatile boolean closed;

  /** How to record. Only {@code dir} and {@code text} need to be given. */
  public static final class Options {
    /** The directory that the collector drains. */
    public Path dir = Paths.get("/dev/shm/iostrata");

    /** 64-bit name of this process; 0: a random positive one. */
    public long proc;

    /** 0: of this process. */
    public int pid;

    /** Lines key=value about the process; cut at 12,000 bytes. */
    public String text = "";

    /** Identity of the point table: what agent and collector must agree on. */
    public long pointsHash = Schema.POINTS_HASH;

    /** Bytes of all segments; 0: 64 MiB or 1 % of the cgroup's memory limit, the smaller. */
    public long capBytes;

    /** Of what is drawn at random; 0: another each time. */
    public long seed;
  }

  /**
   * Makes DIR/UID/PID-PROC with its process page.
   *
   * @throws IOException in one line: DIR is missing, read-only, full or another user's, or there is
   *     no native writer
   */
  public static Recorder open(Options options) throws IOException {
    try {
      return new Recorder(options);
    } catch (RuntimeException | LinkageError e) {
      throw new IOException("cannot record in " + options.dir + ": " + e, e);
    }
  }

  private Recorder(Options options) throws IOException {
    this.options = options;
    options.proc = options.proc != 0 ? options.proc : new Random().nextLong() >>> 1 | 1;
    uid = Native.uid();
    long[] numbers = {
      options.proc, options.pid, options.pointsHash, options.capBytes, options.seed
    };
    handle = Native.open(options.dir.toString(), options.text, numbers);
    clockCost = Native.clockCost(handle);
    control = new ControlPage(options.dir, uid);
    rejecting = ThreadLog.rejecting(this);
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
      count(Schema.PROCESS_COUNTER_FAULTS, 1);
      return rejecting;
    }
  }

  /** A log makes its first call. Its native thread; 0: nothing is recorded any more. */
  long begin(ThreadLog log, String name) {
    if (closed) {
      return 0;
    }
    long made = Native.begin(handle, log.thread.getId(), name);
    live.add(log);
    return made;
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
    String text = name == null ? "" : name;
    int id = Native.name(handle, category, text, parent, block, generation);
    return (long) category << 32 | id & 0xFFFFFFFFL;
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
    Native.processContext(handle, id);
  }

  /** 64-bit name of this process. */
  public long proc() {
    return options.proc;
  }

  /** DIR/UID/PID-PROC. */
  public String directory() {
    return Native.directory(handle);
  }

  /** Base context of every thread; 0 none. */
  public int context() {
    return baseContext;
  }

  /** A recording begins: calls that were open in an earlier one are forgotten. */
  public void beginRecording() {
    Native.beginRecording(handle);
  }

  /** Adds to a {@code process_counter}. */
  public void count(int processCounter, long add) {
    Native.count(handle, processCounter, add);
  }

  /**
   * What the calls of a point have in common, as one number.
   *
   * @param layer a code of {@code layer}
   * @param direction of its bytes, 1 to 48: calls nested in one of the same direction are {@code
   *     covered}; 0: it carries none
   * @param scope its open span is the scope of what it encloses
   * @param begin it writes a {@code begin} slot at entry
   * @param addsUp number of the operation whose bytes it adds up, 0 none
   * @param addedUp the one that its own bytes are added up for, 0 none
   */
  public static long facts(
      int point, int layer, int direction, boolean scope, boolean begin, int addsUp, int addedUp) {
    int flags = (scope ? 1 : 0) | (begin ? 2 : 0) | (Schema.summedUnderBudget(point) ? 4 : 0);
    return layer | direction << 8 | flags << 16 | (long) addsUp << 24 | (long) addedUp << 32;
  }

  /**
   * The points of this process, before the first call of any.
   *
   * @param facts by id, of {@link #facts}; 0: there is no such point
   */
  public void points(long[] facts) {
    Native.points(handle, facts);
  }

  /**
   * A point more, of a user, before it is woven; see {@link #facts}.
   *
   * @param name class#method and descriptor
   */
  public void addPoint(
      int id, byte layer, boolean scope, boolean begin, byte direction, String op, String name) {
    Native.point(handle, id, facts(id, layer, direction, scope, begin, 0, 0));
    name(Schema.CATEGORY_POINT, id + "\t" + layer + "\t" + op + "\t" + name);
  }

  /** Ends without a begin are expected of a point that is off, and not counted. */
  public void pointOff(int point, boolean off) {
    Native.off(handle, point, off);
  }

  /** Stores a {@code point_state}. */
  public void pointState(int point, int state) {
    Native.pointState(handle, point, state);
  }

  /** Where runs are asked for. */
  public File runs() {
    return options.dir.resolve("runs").toFile();
  }

  /** A fault of ours that no point is to blame for. */
  public void complain(String message) {
    count(Schema.PROCESS_COUNTER_FAULTS, 1);
    name(Schema.CATEGORY_FAULT, "0\t" + message);
  }

  /** The effective uid of this process. */
  public int uid() {
    return uid;
  }

  /** A fault inside a point of ours: its state is faulted from now on. */
  public void fault(int point, String message) {
    Native.fault(handle, point);
    count(Schema.PROCESS_COUNTER_FAULTS, 1);
    name(Schema.CATEGORY_FAULT, point + "\t" + message);
  }

  /** Rereads DIR/control: its word, 0 (off) when there is none. */
  public int controlWord() {
    try {
      return control.read();
    } catch (Throwable e) {
      count(Schema.PROCESS_COUNTER_FAULTS, 1);
      return 0;
    }
  }

  /** True when the page read last switches the point off. */
  public boolean isOff(int point) {
    return control.pointOff(point);
  }

  /** From here on as much is recorded individually as the page read last says. */
  public void follow() {
    Native.detail(handle, control.level(), control.sampling(), control.budget() != 0);
  }

  /**
   * True when the page read last asks for records; a level that is not known asks for all there is.
   */
  public boolean countsRecords() {
    int level = control.level();
    return level <= Schema.LEVEL_RECORD || level > Schema.LEVEL_JOB;
  }

  /** The calls of a point are only summed from now on, or no longer. */
  public void summed(int point, boolean only) {
    Native.summed(handle, point, only);
  }

  /**
   * From now on so many calls are recorded individually of those that may be only summed, and then
   * no more; negative: all.
   */
  public void allow(long calls) {
    Native.allow(handle, calls);
  }

  /** As many calls as were allowed are recorded individually. */
  public boolean isUsedUp() {
    return Native.isUsedUp(handle);
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
    return Native.slots(handle);
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
    Native.account(handle, hooks, thread, collector, cpu, over);
  }

  /**
   * A window of a recording ends, and the next one begins if {@code records}: the process page says
   * what the kernel counted in it of the I/O of this process.
   */
  public void lookAtKernel(boolean records) {
    Native.lookAtKernel(handle, records);
  }

  /**
   * Waits until a child process has ended, and writes what the kernel counted of it.
   *
   * @param task what the JDK runs to wait for it, {@code java.lang.ProcessHandleImpl$1}
   */
  public void child(Object task) {
    Native.child(handle, task);
  }

  /** For so many seconds the calls of the point were only summed for the budget. */
  public void summedFor(int point, int seconds) {
    Native.summedFor(handle, point, seconds);
  }

  /** Tells the collector that this word has been acted on. */
  public void acknowledge(int word) {
    Native.acknowledge(handle, word);
  }

  /** The current thread ends: seals its segment. Should it write again, it begins anew. */
  public void endThread() {
    ThreadLog log = logs.get();
    if (log != null) {
      logs.remove();
      live.end(log);
    } else if (!closed) {
      Native.threadStops(handle); // the JVM has let go of what is thread-local already
    }
  }

  /** Seals the segments of threads that have ended. For the agent's own thread, once a second. */
  public void sealDeadThreads() {
    live.endDead();
  }

  /**
   * Seals what is complete and says that the process has ended; later calls are counted as lost.
   */
  @Override
  public void close() {
    stop();
    Native.end(handle);
  }

  /**
   * The recording ends, the process goes on: from here on no call begins to be recorded. What is
   * under way may take until {@link #detach}.
   */
  public void stop() {
    closed = true;
    live.close();
  }

  /** Some time after {@link #stop}: nothing is kept that threads of the host would keep alive. */
  public void detach() {
    live.free();
    Native.detach(handle);
  }
}
