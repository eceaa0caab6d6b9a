package io.iostrata.agent;

import io.iostrata.segment.Cause;
import io.iostrata.segment.Schema;
import io.iostrata.segment.ThreadLog;
import java.util.Arrays;

/** One thread as the hooks see it: the calls that are open in it, and the targets it met last. */
final class Probe {
  private static final ThreadLocal<Probe> CURRENT = new ThreadLocal<>();

  /** Local files by path, and by descriptor where a stream knows no path. */
  final NameCache paths = new NameCache();

  final IdentityCache descriptors = new IdentityCache();

  /** Peers by the address or socket that a call has at hand. */
  final IdentityCache sockets = new IdentityCache();

  final NameCache hdfsPaths = new NameCache();
  final NameCache clients = new NameCache();
  final NameCache exceptions = new NameCache();
  final IdentityCache streams = new IdentityCache();

  /** True while a hook runs, and always in the agent's own thread: I/O is ours then. */
  boolean busy;

  /** Context of the call that enters next; 0 none. */
  int pendingContext;

  /** Why the call that enters next happens; null: for its own thread. */
  Cause pendingCause;

  /** What a peer has sent, until the call begins that it was sent for. */
  Cause received;

  private ThreadLog log;

  /** The recording that the open calls belong to. */
  private int recording;

  // An open call: bytes, then point | IN_CONTEXT | hot calls below it << 32.
  private static final int WIDTH = 2;
  private static final int POINT = 0xFFFF;
  private static final int IN_CONTEXT = 1 << 16;
  private static final int HOT_BELOW = 32;

  // How a hot call ends.
  static final int COUNTED = 0;
  static final int FAILED = 1;
  static final int FORGOTTEN = 2;

  private int depth;
  private long[] calls = new long[16 * WIDTH];

  private int hotDepth;
  private int[] hotPoints = new int[4];
  private long[] hotCalls = new long[4 * HOT_WIDTH];

  // A hot call: target, bytes, asked.
  private static final int HOT_WIDTH = 3;

  private Probe() {}

  static Probe current() {
    Probe probe = CURRENT.get();
    if (probe == null) {
      probe = new Probe();
      CURRENT.set(probe);
    }
    return probe;
  }

  /** The current thread ends. */
  static void forget() {
    CURRENT.remove();
  }

  void enter(int point, long target, long asked, long offset, long bytesAtEntry) {
    begin();
    int at = depth * WIDTH;
    if (at == calls.length) {
      calls = Arrays.copyOf(calls, at * 2);
    }
    long what = point | (long) hotDepth << HOT_BELOW;
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
    hotDepth = (int) (what >>> HOT_BELOW);
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

  private int hotBelow(int at) {
    return (int) (calls[at * WIDTH + 1] >>> HOT_BELOW);
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
    return cause == null ? null : new Cause(cause.context, cause.trace, cause.proc, cause.span, 0);
  }

  /** Why somebody else will work on: what was received, else the call that is open; null: none. */
  Cause handsOver() {
    Cause cause = received;
    received = null;
    if (cause != null) {
      return cause;
    }
    cause = cause();
    return cause.span == 0 ? null : cause;
  }

  void enterHot(int point, long target, long asked, long bytesAtEntry) {
    begin();
    if (hotDepth == hotPoints.length) {
      hotPoints = Arrays.copyOf(hotPoints, hotDepth * 2);
      hotCalls = Arrays.copyOf(hotCalls, hotDepth * 2 * HOT_WIDTH);
    }
    int at = hotDepth * HOT_WIDTH;
    hotPoints[hotDepth] = point;
    hotCalls[at] = target;
    hotCalls[at + 1] = bytesAtEntry;
    hotCalls[at + 2] = asked;
    hotDepth++;
    log.hotEnter(point);
  }

  /**
   * @param how {@link #COUNTED}, {@link #FAILED}, or {@link #FORGOTTEN}: as if it had not been
   */
  void exitHot(int point, long bytesAtExit, int how) {
    int below = depth == 0 ? 0 : hotBelow(depth - 1);
    int top = hotDepth - 1;
    while (top >= below && hotPoints[top] != point) {
      top--;
    }
    if (top < below) {
      unbalanced(point);
      return;
    }
    hotDepth = top;
    if (how == FORGOTTEN) {
      log.hotDrop(point);
      return;
    }
    int at = top * HOT_WIDTH;
    long entered = hotCalls[at + 1];
    long moved = bytesAtExit == Hooks.AS_ENTERED ? entered : entered + bytesAtExit;
    log.hotExit(point, hotCalls[at], how == FAILED ? 0 : moved, hotCalls[at + 2], how == FAILED);
  }

  /** Calls that were open when an earlier recording ended never told us how they went on. */
  private void begin() {
    int now = Hooks.on;
    if (recording != now) {
      while (depth > 0) {
        drop();
      }
      hotDepth = 0;
      recording = now;
      log = Hooks.recorder.thread();
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
    hotDepth = hotBelow(depth);
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
