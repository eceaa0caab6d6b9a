package io.iostrata.agent;

import io.iostrata.segment.DontInline;
import io.iostrata.segment.Native;
import io.iostrata.segment.ThreadLog;

/** What woven code calls of counted-only points. As little throws as in {@link Hooks}. */
public final class CountedHooks {
  private CountedHooks() {}

  /** Loads this class: the first call of the host that counts may have no stack left for it. */
  static void load() {}

  /** {@link Hooks#enter} of a call that is only summed. */
  @DontInline
  public static void enterCounted(int point, Object a, Object b, long asked, long bytes) {
    if (Hooks.OFF[point] != 0) {
      return;
    }
    try {
      // As in Hooks.enter.
      Thread current = Thread.currentThread();
      Probe probe = Probe.last;
      if (probe == null || probe.thread != current) {
        probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
      }
      if (probe != null
          && probe.thread == current
          && !probe.busy
          && probe.recording == Hooks.on
          && probe.counted == 0) {
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
            Native.enterCounted(writer, point, known.handle, asked, bytes);
          }
          log.inside = false;
          if (sampler.since != 0) {
            sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
          }
          if (writer != 0) {
            return;
          }
        }
      }
      enterCountedAnyhow(point, a, b, asked, bytes);
    } catch (Throwable e) {
      Hooks.fault(point, e);
    }
  }

  @DontInline
  private static void enterCountedAnyhow(int point, Object a, Object b, long asked, long bytes) {
    Probe probe = Hooks.take(point, true);
    if (probe == null) {
      return;
    }
    try {
      probe.enterCounted(point, a, b, asked, bytes);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
      }
    } catch (Throwable e) {
      Hooks.fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /** {@link #enterCounted} of a call whose bytes are known: it is counted now. */
  @DontInline
  public static void count(int point, Object a, Object b, long asked, long bytes) {
    if (Hooks.OFF[point] != 0) {
      return;
    }
    try {
      // As in Hooks.enter.
      Thread current = Thread.currentThread();
      Probe probe = Probe.last;
      if (probe == null || probe.thread != current) {
        probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
      }
      if (probe != null
          && probe.thread == current
          && !probe.busy
          && probe.recording == Hooks.on
          && probe.counted == 0) {
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
          if (writer != 0 && !Native.count(writer, point, known.handle, asked, bytes)) {
            probe.counted = point;
          }
          log.inside = false;
          if (sampler.since != 0) {
            sampler.end(point, OverheadSampler.UNSEEN_COUNT);
          }
          if (writer != 0) {
            return;
          }
        }
      }
      countAnyhow(point, a, b, asked, bytes);
    } catch (Throwable e) {
      Hooks.fault(point, e);
    }
  }

  @DontInline
  private static void countAnyhow(int point, Object a, Object b, long asked, long bytes) {
    Probe probe = Hooks.take(point, true);
    if (probe == null) {
      return;
    }
    try {
      probe.count(point, a, b, asked, bytes);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN_COUNT);
      }
    } catch (Throwable e) {
      Hooks.fault(point, e);
    } finally {
      probe.busy = false;
    }
  }

  /** The call that {@link #count} counted returns. */
  @DontInline
  public static void counted(int point) {
    if (Hooks.on == 0) {
      return;
    }
    try {
      // As in Hooks.enter.
      Thread current = Thread.currentThread();
      Probe probe = Probe.last;
      if (probe == null || probe.thread != current) {
        probe = Probe.MET[(int) current.getId() & Probe.LAST_BITS];
        if (probe != null && (++probe.notLast & 15) == 0 && probe.thread == current) {
          Probe.last = probe;
        }
      }
      if (probe != null && probe.thread == current && probe.counted == point && !probe.busy) {
        probe.counted = 0;
        return;
      }
    } catch (Throwable e) {
      Hooks.fault(point, e);
    }
    leaveCount(point, false);
  }

  /** {@link #counted} of a call that may have passed through. */
  public static void counted(int point, Object through) {
    if (Hooks.on != 0 && !PassingStreams.through(through)) {
      counted(point);
    }
  }

  /** The call that {@link #count} counted throws. */
  public static void failedCount(Throwable thrown, int point) {
    if (Hooks.on != 0) {
      leaveCount(point, true);
    }
  }

  /** {@link #failedCount} of a call that may have passed through. */
  public static void failedCount(Throwable thrown, int point, Object through) {
    if (!PassingStreams.through(through)) {
      failedCount(thrown, point);
    }
  }

  @DontInline
  private static void leaveCount(int point, boolean failed) {
    try {
      Probe probe = Probe.current();
      if (!probe.isCounted(point)) {
        leaveCounted(Hooks.AS_ENTERED, point, failed ? Probe.FAILED : Probe.COUNTED);
      } else if (failed) {
        probe.failCounted(point);
      }
    } catch (Throwable e) {
      Hooks.fault(point, e);
    }
  }

  /** {@link Hooks#exit} of a call that is only summed. */
  @DontInline
  public static void exitCounted(long bytes, int point) {
    if (Hooks.on == 0) {
      return;
    }
    try {
      // As in Hooks.enter.
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
        Native.exitCounted(log.handle, point, bytes, false);
        log.inside = false;
        if (sampler.since != 0) {
          sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
        }
        return;
      }
      leaveCounted(bytes, point, Probe.COUNTED);
    } catch (Throwable e) {
      Hooks.fault(point, e);
    }
  }

  /** {@link #exitCounted} of a call that may have passed through. */
  public static void exitCounted(long bytes, int point, Object through) {
    if (Hooks.on != 0 && !PassingStreams.through(through)) {
      exitCounted(bytes, point);
    }
  }

  /** {@link #exitCounted} of a call that may have met no record. */
  public static void exitRecord(boolean met, long bytes, int point) {
    if (Hooks.on != 0) {
      leaveCounted(bytes, point, met ? Probe.COUNTED : Probe.FORGOTTEN);
    }
  }

  /** {@link Hooks#failed} of a call that is only summed. */
  public static void failedCounted(Throwable thrown, int point) {
    if (Hooks.on != 0) {
      leaveCounted(0, point, Probe.FAILED);
    }
  }

  /** {@link #failedCounted} of a call that may have passed through. */
  public static void failedCounted(Throwable thrown, int point, Object through) {
    if (!PassingStreams.through(through)) {
      failedCounted(thrown, point);
    }
  }

  @DontInline
  private static void leaveCounted(long bytes, int point, int how) {
    Probe probe = Hooks.take(point, false);
    if (probe == null) {
      return;
    }
    try {
      probe.exitCounted(point, bytes, how);
      if (probe.sampler.since != 0) {
        probe.sampler.end(point, OverheadSampler.UNSEEN_COUNTED);
      }
    } catch (Throwable e) {
      Hooks.fault(point, e);
    } finally {
      probe.busy = false;
    }
  }
}
