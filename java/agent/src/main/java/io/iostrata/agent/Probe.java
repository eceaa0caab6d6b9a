package io.iostrata.agent;

import io.iostrata.segment.Cause;
import io.iostrata.segment.DontInline;
import io.iostrata.segment.Schema;
import io.iostrata.segment.ThreadLog;
import java.util.Arrays;

/** One thread as the hooks see it: the calls that are open in it, and the targets it met last. */
final class Probe {
  /** Replaced when an agent ends: what threads then still have, nothing leads to. */
  private static volatile ThreadLocal<Probe> probes = new ThreadLocal<>();

  /**
   * Probes by the last bits of their thread's id, as found lately: a look here costs a fraction of
   * one into a thread-local. Written without order: what is read is checked.
   */
  private static final Probe[] MET = new Probe[1024];

  /** Stands for the object of a target that may be another one at the next call. */
  private static final Object NOBODY = new Object();

  /** Local files by path, and by descriptor where a stream knows no path. */
  final NameCache paths = new NameCache();

  final IdentityCache descriptors = new IdentityCache();

  /** Peers by the address or socket that a call has at hand. */
  final IdentityCache sockets = new IdentityCache();

  final NameCache hdfsPaths = new NameCache();
  final NameCache clients = new NameCache();
  final NameCache exceptions = new NameCache();
  final IdentityCache streams = new IdentityCache();

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

  /** By point. */
  private CountedOnlyTarget[] countedTargets = NO_TARGETS;

  private ThreadLog log;

  /** The recording that the open calls belong to. */
  private int recording;

  // An open call: bytes, then point | IN_CONTEXT.
  private static final int WIDTH = 2;
  private static final int POINT = 0xFFFF;
  private static final int IN_CONTEXT = 1 << 16;

  private static final CountedOnlyTarget[] NO_TARGETS = {};

  // How a counted-only call ends.
  static final int COUNTED = 0;
  static final int FAILED = 1;
  static final int FORGOTTEN = 2;

  private int depth;
  private long[] calls = new long[16 * WIDTH];

  /** Whose it is. */
  private final Thread thread = Thread.currentThread();

  private Probe() {}

  /** The current thread's. */
  static Probe current() {
    Thread current = Thread.currentThread();
    Probe probe = MET[(int) current.getId() & MET.length - 1];
    return probe != null && probe.thread == current ? probe : lookUp(current);
  }

  private static Probe lookUp(Thread current) {
    ThreadLocal<Probe> mine = probes;
    Probe probe = mine.get();
    if (probe == null) {
      probe = new Probe();
      mine.set(probe);
    }
    MET[(int) current.getId() & MET.length - 1] = probe;
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
  }

  /** The current thread ends. */
  static void forgetThread() {
    probes.remove();
    forgetMet();
  }

  @DontInline
  void enter(int point, long target, long asked, long offset, long bytesAtEntry) {
    begin();
    int at = depth * WIDTH;
    if (at == calls.length) {
      calls = Arrays.copyOf(calls, at * 2);
    }
    long what = point;
    if (pendingContext != 0 || pendingCause != null) {
      log.pushContext(point, pendingContext, pendingCause);
      pendingContext = 0;
      pendingCause = null;
      what |= IN_CONTEXT;
    }
    calls[at] = bytesAtEntry;
    calls[at + 1] = what;
    log.enter(point, target, asked, offset);
    depth++;
  }

  @DontInline
  void exit(int point, long bytesAtExit, Throwable thrown) {
    int at = depth - 1;
    if (at < 0 || pointOf(at) != point) {
      at = unwindTo(point);
      if (at < 0) {
        return;
      }
    }
    depth = at;
    long bytes = calls[at * WIDTH];
    long what = calls[at * WIDTH + 1];
    if (thrown == null) {
      long moved = bytesAtExit == Hooks.AS_ENTERED ? bytes : bytes + bytesAtExit;
      if (Hooks.ADDED_UP[point] != 0) {
        addUp(Hooks.ADDED_UP[point], moved);
      }
      log.exit(moved, 0, 0);
    } else {
      // What the calls inside have moved is moved, whatever happened then.
      log.exit(Hooks.ADDS_UP[point] == 0 ? 0 : bytes, exception(thrown), Schema.FLAG_ERROR);
    }
    if ((what & IN_CONTEXT) != 0) {
      log.popContext();
    }
  }

  private int pointOf(int at) {
    return (int) calls[at * WIDTH + 1] & POINT;
  }

  /** Adds to the bytes of the open calls that consist of such calls. */
  void addUp(int operation, long moved) {
    for (int at = depth - 1; at >= 0; at--) {
      if (Hooks.ADDS_UP[pointOf(at)] == operation && moved > 0) {
        calls[at * WIDTH] += moved;
      }
    }
  }

  /** What other threads and processes do for this one now is caused by. */
  Cause cause() {
    begin();
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
   * Target of a counted-only call: mostly that of the point's call before, found without a lookup.
   */
  private long countedTarget(int point, Object a, Object b) throws Throwable {
    Extractor target = Hooks.TARGETS[point];
    if (target == null) {
      return 0;
    }
    if (countedTargets == NO_TARGETS) {
      countedTargets = new CountedOnlyTarget[Schema.PROCESS_MAX_POINTS];
    }
    CountedOnlyTarget last = countedTargets[point];
    if (last != null && b == null) {
      if (last.isOf(a)) {
        return last.handle;
      }
      // Streams wrap each other: two take turns.
      CountedOnlyTarget before = last.before;
      if (before != null && before.isOf(a)) {
        return before.handle;
      }
    }
    long handle = target.of(this, a, b);
    if (handle != 0 && b == null) {
      countedTargets[point] = new CountedOnlyTarget(a, handle, last);
    }
    return handle;
  }

  /**
   * {@link #enterCounted} of a call like the one before, which needs no I/O of ours and no guard
   * against it.
   *
   * @return false when nothing has been done
   */
  boolean enterQuickly(int point, Object a, Object b, long asked, long bytesAtEntry) {
    if (busy || recording != Hooks.on || b != null) {
      return false;
    }
    sampler.begin();
    if (!log.enterCountedQuickly(point, a, asked, bytesAtEntry)) {
      sampler.undo();
      return false;
    }
    sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
    return true;
  }

  /** The same at its end. */
  boolean exitQuickly(int point, long bytesAtExit) {
    if (busy || log == null) {
      return false;
    }
    sampler.begin();
    if (!log.exitCountedQuickly(point, bytesAtExit)) {
      sampler.undo();
      return false;
    }
    sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
    return true;
  }

  void enterCounted(int point, Object a, Object b, long asked, long bytesAtEntry) throws Throwable {
    long target = countedTarget(point, a, b);
    begin();
    Object same = Hooks.TARGETS[point] == null ? null : target != 0 && b == null ? a : NOBODY;
    log.enterCounted(point, target, same, asked, bytesAtEntry);
  }

  /**
   * @param how {@link #COUNTED}, {@link #FAILED}, or {@link #FORGOTTEN}: as if it had not been
   */
  void exitCounted(int point, long bytesAtExit, int how) {
    if (log == null) {
      unbalanced(point);
      return;
    }
    boolean open =
        how == FORGOTTEN
            ? log.dropCounted(point)
            : log.exitCounted(point, bytesAtExit, how == FAILED);
    if (!open) {
      unbalanced(point);
    }
  }

  /** Calls that were open when an earlier recording ended never reported how they went on. */
  private void begin() {
    int now = Hooks.on;
    if (recording != now) {
      while (depth > 0) {
        drop();
      }
      recording = now;
      log = Hooks.recorder.thread();
      log.recordingBegins();
    }
  }

  /** Position of the call of this point that is open on top, after dropping what lies above it. */
  private int unwindTo(int point) {
    int at = depth - 1;
    while (at >= 0 && pointOf(at) != point) {
      at--;
    }
    if (at < 0) {
      unbalanced(point);
      return -1;
    }
    while (depth - 1 > at) {
      Hooks.recorder.count(Schema.PROCESS_COUNTER_UNBALANCED, 1);
      drop();
    }
    return at;
  }

  private void drop() {
    depth--;
    log.drop();
    if ((calls[depth * WIDTH + 1] & IN_CONTEXT) != 0) {
      log.popContext();
    }
  }

  /** An exit without entry is expected of a point that is off. */
  private static void unbalanced(int point) {
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
