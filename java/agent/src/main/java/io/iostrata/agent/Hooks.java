package io.iostrata.agent;

import io.iostrata.segment.DontInline;
import io.iostrata.segment.Native;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.ThreadLog;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * What woven code calls; {@link CountedHooks} has the hooks of calls that are only summed. Nothing
 * here throws: a fault of ours switches the point off for the rest of the process and is counted.
 */
public final class Hooks {
  /** Bytes to {@link #exit} that say: those given at entry. */
  public static final long AS_ENTERED = ThreadLog.AS_ENTERED;

  private static final int MAX_MESSAGE = 400;

  /** 0 while nothing is recorded, else the number of the recording: 1, 2, … */
  public static volatile int on;

  static volatile Recorder recorder;

  /** ns that a clock adds to what it measures. */
  static long clockCost;

  /** By point id; an element is null where the point asks for none. */
  static final Extractor[] TARGETS = new Extractor[Schema.PROCESS_MAX_POINTS];

  static final Extractor[] CONTEXTS = new Extractor[Schema.PROCESS_MAX_POINTS];
  static final Extractor[] MEASURES = new Extractor[Schema.PROCESS_MAX_POINTS];
  static final Extractor[] EFFECTS = new Extractor[Schema.PROCESS_MAX_POINTS];

  /** Why a point records nothing: 0, or {@link #SWITCHED}, or for good {@link #FAULTED}. */
  static final byte[] OFF = new byte[Schema.PROCESS_MAX_POINTS];

  static final byte SWITCHED = 1;
  static final byte FAULTED = 2;

  /** Number of the operation that the point's bytes are added up for, 0 none. */
  static final byte[] ADDED_UP = new byte[Schema.PROCESS_MAX_POINTS];

  /** Faults that are counted. */
  static final boolean[] REPORTED = new boolean[Schema.PROCESS_MAX_POINTS];

  private static int recordings;

  private Hooks() {}

  /** An agent of this version may have been here before. */
  static void begin() {
    CountedHooks.load();
    Arrays.fill(OFF, (byte) 0);
    Arrays.fill(REPORTED, false);
    Arrays.fill(ADDED_UP, (byte) 0);
  }

  /** A point more; off until it is switched on. */
  static void install(Point point) {
    int id = point.id;
    TARGETS[id] = Extractors.of(point.target);
    CONTEXTS[id] = Extractors.of(point.context);
    EFFECTS[id] = Extractors.of(point.effect);
    MEASURES[id] = Extractors.of(point.measure);
  }

  /** Nothing is recorded, learnt or added from here on, also where methods stay woven. */
  static void off() {
    on = 0;
    Arrays.fill(OFF, SWITCHED);
  }

  /** After {@link #off}: what was learnt of the host's objects and threads is let go. */
  static void forget() {
    recorder = null;
    Arrays.fill(TARGETS, null);
    Arrays.fill(CONTEXTS, null);
    Arrays.fill(EFFECTS, null);
    Arrays.fill(MEASURES, null);
    Probe.forget();
    PassingStreams.forget();
    TaskNames.forget();
    HandOver.CAUSES.clear();
    SocketStreams.SOCKETS.clear();
    StreamWrapped.INNER.clear();
    DescriptorOpened.PATHS.clear();
    AsynchronousTarget.Opened.PATHS.clear();
  }

  /** Starts or ends a recording; called by one thread only. */
  static void record(boolean wanted) {
    if (!wanted) {
      on = 0;
    } else if (on == 0) {
      recorder.beginRecording();
      on = ++recordings;
    }
  }

  static void switchPoint(int point, boolean off) {
    if (OFF[point] != FAULTED && (OFF[point] != 0) != off) {
      recorder.pointOff(point, off);
      OFF[point] = off ? SWITCHED : 0;
    }
  }

  /** The point records nothing: it was switched off, or a fault of ours has ended it. */
  static boolean isOff(int point) {
    return OFF[point] != 0;
  }

  /** A call that belongs to somebody is about to {@link #enter}. */
  @DontInline
  public static void context(int point, Object whom, Object name) {
    Probe probe = OFF[point] != 0 ? null : take(point, false);
    if (probe == null) {
      return;
    }
    try {
      probe.pendingContext = (int) CONTEXTS[point].of(probe, whom, name);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
    } catch (Throwable e) {
      probe.pendingCause = null;
      fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /**
   * A call begins.
   *
   * @param a first value of the target's extraction
   * @param b second value, or null
   * @param asked bytes asked for, 0 none
   * @param offset -1 none
   * @param bytes what {@link #AS_ENTERED} will mean
   */
  @DontInline
  public static void enter(int point, Object a, Object b, long asked, long offset, long bytes) {
    if (OFF[point] != 0) {
      return;
    }
    try {
      // Where nothing is unusual this calls native code and nothing else: before it is compiled,
      // each call of Java is a tenth of what a hook costs. What it leaves out is in enterAnyhow.
      Thread current = Thread.currentThread();
      Probe probe = Probe.last;
      if (probe == null || probe.thread != current) {
        probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
      }
      if (probe != null
          && probe.thread == current
          && !probe.busy
          && probe.recording == on
          && probe.counted == 0
          && probe.pendingContext == 0
          && probe.pendingCause == null) {
        KnownTarget known = probe.known[point & KnownTarget.POINTS - 1];
        if (known != null
            && known.point == point
            && (a == null ? known.ofNothing : known.get() == a)) {
          OverheadSampler sampler = probe.sampler;
          if (--sampler.left <= 0) {
            sampler.begin();
          }
          ThreadLog log = probe.log;
          log.inside = true;
          long writer = log.handle;
          if (writer != 0) {
            Native.enter(writer, point, known.handle, asked, offset, bytes);
          }
          log.inside = false;
          if (sampler.since != 0) {
            sampler.end(point, OverheadSampler.UNSEEN);
          }
          if (writer != 0) {
            return;
          }
        }
      }
      enterAnyhow(point, a, b, asked, offset, bytes);
    } catch (Throwable e) {
      fault(point, e);
    }
  }

  @DontInline
  private static void enterAnyhow(
      int point, Object a, Object b, long asked, long offset, long bytes) {
    Probe probe = take(point, true);
    if (probe == null) {
      return;
    }
    try {
      probe.enter(point, a, b, asked, offset, bytes);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
    } catch (Throwable e) {
      fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /** The call returns. Also when its point has been switched off since: it may be open. */
  @DontInline
  public static void exit(long bytes, int point) {
    if (on == 0) {
      return;
    }
    try {
      // As in enter.
      Thread current = Thread.currentThread();
      Probe probe = Probe.last;
      if (probe == null || probe.thread != current) {
        probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
        if (probe != null && (++probe.notLast & 15) == 0 && probe.thread == current) {
          Probe.last = probe;
        }
      }
      if (probe != null && probe.thread == current && !probe.busy && probe.log != null) {
        OverheadSampler sampler = probe.sampler;
        if (--sampler.left <= 0) {
          sampler.begin();
        }
        ThreadLog log = probe.log;
        log.inside = true;
        Native.exit(log.handle, point, bytes);
        log.inside = false;
        if (sampler.since != 0) {
          sampler.end(point, OverheadSampler.UNSEEN);
        }
        return;
      }
      exitAnyhow(bytes, point);
    } catch (Throwable e) {
      fault(point, e);
    }
  }

  @DontInline
  private static void exitAnyhow(long bytes, int point) {
    Probe probe = take(point, false);
    if (probe == null) {
      return;
    }
    try {
      probe.exit(point, bytes);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
    } catch (Throwable e) {
      fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /** The call throws. */
  @DontInline
  public static void failed(Throwable thrown, int point) {
    Probe probe = on == 0 ? null : take(point, false);
    if (probe == null) {
      return;
    }
    try {
      probe.failed(point, thrown);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
    } catch (Throwable e) {
      fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /** Bytes of a call that is about to {@link #exit} or {@link CountedHooks#exitCounted}. */
  public static long measure(int point, Object a, Object b) {
    return on == 0 ? 0 : measured(point, a, b);
  }

  @DontInline
  private static long measured(int point, Object a, Object b) {
    Probe probe = OFF[point] != 0 ? null : take(point, false);
    if (probe == null) {
      return 0;
    }
    try {
      long bytes = MEASURES[point].of(probe, a, b);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
      return bytes;
    } catch (Throwable e) {
      fault(point, e);
      return 0;
    } finally {
      probe.busy = false;
    }
  }

  /** A method that tells who somebody is returns. Also while nothing is recorded. */
  @DontInline
  public static void learn(int point, Object a, Object b) {
    Probe probe = OFF[point] != 0 ? null : take(point, true);
    if (probe == null) {
      return;
    }
    try {
      long effect = EFFECTS[point].of(probe, a, b);
      if (ADDED_UP[point] != 0) {
        probe.addUp(ADDED_UP[point], effect);
      }
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
    } catch (Throwable e) {
      fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /**
   * {@link #learn(int, Object, Object)} of what the method returns, which is on the stack first.
   */
  public static void learn(Object returned, int point, Object b) {
    learn(point, returned, b);
  }

  /** What a method is about to return, or the same with something added. */
  public static Object instead(Object returned, int point) {
    return on == 0 || returned == null ? returned : other(returned, point);
  }

  @DontInline
  private static Object other(Object returned, int point) {
    Probe probe = OFF[point] != 0 ? null : take(point, true);
    if (probe == null) {
      return returned;
    }
    try {
      Object other = EFFECTS[point].instead(probe, returned);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN);
      }
      return other.getClass() == returned.getClass() ? other : returned;
    } catch (Throwable e) {
      fault(point, e);
      return returned;
    } finally {
      probe.busy = false;
    }
  }

  /** Length of an array of bytes or of a string, what remains of a buffer; 0 for all else. */
  public static long size(Object value) {
    if (value instanceof byte[]) {
      return ((byte[]) value).length;
    }
    if (value instanceof ByteBuffer) {
      return ((ByteBuffer) value).remaining();
    }
    return value instanceof String ? ((String) value).length() : 0;
  }

  /** See {@link CollectedBytes}. */
  public static long collected(
      int point, int free, int emptied, IntBuffer meta, int recordEnd, int ringEnd) {
    try {
      return on == 0 ? 0 : CollectedBytes.bytes(free, emptied, meta, recordEnd, ringEnd);
    } catch (Throwable e) {
      fault(point, e);
      return 0;
    }
  }

  /** Bytes that a read of one byte got. */
  public static long oneByte(int returned) {
    return returned < 0 ? 0 : 1;
  }

  /** The thread's probe, now busy; null when it was: then the call is one of our own. */
  static Probe take(int point, boolean counted) {
    try {
      // As Probe.current: every call less is a tenth of what a hook costs before it is compiled.
      Thread current = Thread.currentThread();
      Probe probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
      if (probe == null || probe.thread != current) {
        probe = Probe.lookUp(current);
      }
      if (probe.busy) {
        if (counted && recorder != null) {
          recorder.count(Schema.PROCESS_COUNTER_REENTRANT, 1);
        }
        return null;
      }
      OverheadSampler sampler = probe.sampler;
      if (--sampler.left <= 0) {
        sampler.begin();
      }
      probe.busy = true;
      return probe;
    } catch (Throwable e) {
      fault(point, e);
      return null;
    }
  }

  /** A fault of ours switches the point off for good, and is counted. */
  static void fault(int point, Throwable fault) {
    try {
      OFF[point] = FAULTED;
      REPORTED[point] = true;
      recorder.pointOff(point, true);
      String message = fault.toString();
      int end = Math.min(message.length(), MAX_MESSAGE);
      recorder.fault(point, message.substring(0, end));
    } catch (Throwable again) {
      // No stack or memory left to say so here: the agent's own thread will.
      REPORTED[point] = false;
    }
  }

  /** Counts the faults that their own threads could not. */
  static void reportFaults() {
    for (int point = 0; point < Schema.PROCESS_MAX_POINTS; point++) {
      if (OFF[point] == FAULTED && !REPORTED[point]) {
        REPORTED[point] = true;
        recorder.fault(point, "no stack or memory left");
      }
    }
  }
}
