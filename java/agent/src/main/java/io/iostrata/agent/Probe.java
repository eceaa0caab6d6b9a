package io.iostrata.agent;

import io.iostrata.segment.Cause;
import io.iostrata.segment.Schema;
import io.iostrata.segment.ThreadLog;
import java.util.Arrays;

/** One thread as the hooks see it: its log, and the targets it met last. */
final class Probe {
  /** Replaced when an agent ends: what threads then still have, nothing leads to. */
  private static volatile ThreadLocal<Probe> probes = new ThreadLocal<>();

  /**
   * Probes by the last bits of their thread's id, as found lately: a look here costs a fraction of
   * one into a thread-local. Written without order: what is read is checked.
   */
  static final Probe[] MET = new Probe[1024];

  static final int LAST_BITS = 1023;

  /** One that was found there often of late. */
  static Probe last;

  /** Local files by path, and by descriptor where a stream knows no path. */
  final NameCache paths = new NameCache();

  final IdentityCache descriptors = new IdentityCache();

  /** Peers by the address or socket that a call has at hand. */
  final IdentityCache sockets = new IdentityCache();

  final NameCache hdfsPaths = new NameCache();
  final NameCache clients = new NameCache();
  final NameCache exceptions = new NameCache();
  final IdentityCache streams = new IdentityCache();

  /** Of HBase: regions by their RegionInfo and by name, HFiles by path, remote methods. */
  final IdentityCache regions = new IdentityCache();

  final NameCache regionNames = new NameCache();
  final NameCache hfiles = new NameCache();
  final IdentityCache methods = new IdentityCache();

  /**
   * True while a hook runs, and always in the agent's own thread: I/O is ours then. Whoever sets it
   * lets it go without a call: there may be no stack left for one.
   */
  boolean busy;

  final OverheadSampler sampler = new OverheadSampler();

  /** Context of the call that enters next; 0 none. */
  int pendingContext;

  /** Why the call that enters next happens; null: for its own thread. */
  Cause pendingCause;

  /** What a peer has sent, until the call begins that it was sent for. */
  Cause received;

  /** Those that points met last, by the last bits of the point. */
  KnownTarget[] known = KnownTarget.NONE;

  /** Targets that were looked up. */
  private int lookedUp;

  /**
   * Point of the call that was counted when it began, while nothing has happened inside; 0 none.
   */
  int counted;

  /** Null before the first call of the first recording. */
  ThreadLog log;

  /** The recording that the log was asked for in. */
  int recording;

  // How a counted-only call ends.
  static final int COUNTED = 0;
  static final int FAILED = 1;
  static final int FORGOTTEN = 2;

  /** Times that the thread was not that of {@link #last}: written now and then, read always. */
  int notLast;

  /** Whose it is. */
  final Thread thread = Thread.currentThread();

  private Probe() {}

  /** The current thread's. */
  static Probe current() {
    Thread current = Thread.currentThread();
    Probe probe = MET[(int) current.getId() & LAST_BITS];
    return probe != null && probe.thread == current ? probe : lookUp(current);
  }

  static Probe lookUp(Thread current) {
    ThreadLocal<Probe> mine = probes;
    Probe probe = mine.get();
    if (probe == null) {
      probe = new Probe();
      mine.set(probe);
    }
    MET[(int) current.getId() & LAST_BITS] = probe;
    return probe;
  }

  /** No thread has a probe from here on, until it asks for one. */
  static void forget() {
    probes = new ThreadLocal<>();
    forgetMet();
  }

  /** Once in a while: {@link #MET} must not keep threads alive that have ended. */
  static void forgetMet() {
    Arrays.fill(MET, null);
    last = null;
  }

  /** The current thread ends. */
  static void forgetThread() {
    probes.remove();
    forgetMet();
  }

  void enter(int point, Object a, Object b, long asked, long offset, long bytesAtEntry)
      throws Throwable {
    long target = target(point, a, b, false);
    if (recording != Hooks.on || log == null) {
      begin();
    }
    if (counted != 0) {
      open();
    }
    Cause cause = pendingCause;
    int context = pendingContext;
    if (context == 0 && cause == null) {
      log.enter(point, target, asked, offset, bytesAtEntry);
      return;
    }
    pendingContext = 0;
    pendingCause = null;
    log.enterFor(point, target, asked, offset, bytesAtEntry, context, cause);
  }

  void exit(int point, long bytes) {
    if (log == null) {
      unbalanced(point);
    } else {
      log.exit(point, bytes);
    }
  }

  void failed(int point, Throwable thrown) {
    if (log == null) {
      unbalanced(point);
      return;
    }
    log.failed(point, exception(thrown));
  }

  /** Adds to the bytes of the open calls that consist of such calls. */
  void addUp(int operation, long moved) {
    if (log != null) {
      log.addUp(operation, moved);
    }
  }

  /** What other threads and processes do for this one now is caused by. */
  Cause cause() {
    if (recording != Hooks.on || log == null) {
      begin();
    }
    return log.cause();
  }

  /** What was received, used at once; null when nothing was. */
  Cause takeReceived() {
    Cause cause = received;
    received = null;
    return cause == null ? null : cause.taken();
  }

  /** Why somebody else will work on: what was received, else the call that is open; null: none. */
  Cause handsOver() {
    Cause cause = received;
    received = null;
    if (cause != null) {
      return cause;
    }
    cause = cause();
    return cause.saysNothing() ? null : cause;
  }

  /**
   * Target of a call: mostly that of the point's call before, found without a lookup.
   *
   * @param same the point's target is that of the first value, whenever it is asked
   */
  private long target(int point, Object a, Object b, boolean same) throws Throwable {
    KnownTarget last = known[point & KnownTarget.POINTS - 1];
    if (last != null) {
      if (last.isOf(point, a)) {
        return last.handle;
      }
      if (last.before != null && last.before.isOf(point, a)) {
        return last.before.handle;
      }
    }
    Extractor extractor = Hooks.TARGETS[point];
    long handle = extractor == null ? 0 : extractor.of(this, a, b);
    boolean stays = extractor == null || handle != 0 && (same || extractor.isOfFirst(a));
    // Where many take turns, to remember each would only make work for the garbage collector.
    if (stays && (last == null || last.point != point || (++lookedUp & 3) == 0)) {
      remember(new KnownTarget(point, a, handle, last));
    }
    return handle;
  }

  private void remember(KnownTarget target) {
    if (known == KnownTarget.NONE) {
      known = new KnownTarget[KnownTarget.POINTS];
    }
    known[target.point & KnownTarget.POINTS - 1] = target;
  }

  void enterCounted(int point, Object a, Object b, long asked, long bytesAtEntry) throws Throwable {
    long target = target(point, a, b, b == null);
    if (recording != Hooks.on || log == null) {
      begin();
    }
    if (counted != 0) {
      open();
    }
    log.enterCounted(point, target, asked, bytesAtEntry);
  }

  /** {@link #enterCounted} of a call whose bytes are known: it is counted now. */
  void count(int point, Object a, Object b, long asked, long bytes) throws Throwable {
    long target = target(point, a, b, b == null);
    if (recording != Hooks.on || log == null) {
      begin();
    }
    if (counted != 0) {
      open();
    }
    if (!log.count(point, target, asked, bytes)) {
      counted = point;
    }
  }

  /** Something happens inside the call that was counted when it began. */
  private void open() {
    int point = counted;
    counted = 0;
    log.openCounted(point);
  }

  /**
   * A call ends that may have been counted when it began.
   *
   * @return true: nothing is left to be done
   */
  boolean isCounted(int point) {
    if (counted != point || busy) {
      return false;
    }
    counted = 0;
    return true;
  }

  /** The call that was counted when it began, and has just ended, has failed. */
  void failCounted(int point) {
    log.failCounted(point);
  }

  /**
   * @param how {@link #COUNTED}, {@link #FAILED}, or {@link #FORGOTTEN}: as if it had not been
   */
  void exitCounted(int point, long bytesAtExit, int how) {
    if (log == null) {
      unbalanced(point);
    } else if (how == FORGOTTEN) {
      log.dropCounted(point);
    } else {
      log.exitCounted(point, bytesAtExit, how == FAILED);
    }
  }

  /** The first call of a recording. */
  private void begin() {
    recording = Hooks.on;
    counted = 0;
    log = Hooks.recorder.thread();
  }

  /** An exit without entry is expected of a point that is off. */
  static void unbalanced(int point) {
    if (!Hooks.isOff(point)) {
      Hooks.recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
    }
  }

  private int exception(Throwable thrown) {
    String name = thrown.getClass().getName();
    long handle = exceptions.get(name);
    if (handle == NameCache.ABSENT) {
      handle = Hooks.recorder.name(Schema.CATEGORY_EXCEPTION, name);
      exceptions.put(name, handle);
    }
    return (int) handle;
  }
}
