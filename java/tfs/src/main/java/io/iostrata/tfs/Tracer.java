package io.iostrata.tfs;

import io.iostrata.segment.ProcessFacts;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.ThreadLog;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this JVM writes about its calls, without an agent: one for all its file systems. Nothing
 * here throws. Where nobody collects, or an agent sees the same calls and more, nothing is written.
 */
final class Tracer {
  private static final Logger LOG = LoggerFactory.getLogger(TracedFileSystem.class);

  /** Directory of the collector, and the run that the process belongs to whatever it does. */
  private static final String DIR = "fs.tfs.trace.dir";

  private static final String RUN = "fs.tfs.trace.run";
  private static final String DEFAULT_DIR = "/dev/shm/iostrata";

  /** After the file systems have been closed, which may still write. */
  private static final int HOOK_PRIORITY = FileSystem.SHUTDOWN_HOOK_PRIORITY - 5;

  private static boolean begun;

  /** Null while nothing may ever be written. */
  private static volatile Tracer current;

  /** Calls so far, recorded individually or not. */
  final LongAdder calls = new LongAdder();

  private final Recorder recorder;

  /** Something is recorded just now. */
  private volatile boolean records;

  /** By point, from {@link Point#FIRST}. */
  private final boolean[] off = new boolean[Point.LAST - Point.FIRST + 1];

  private Tracer(Recorder recorder) {
    this.recorder = recorder;
  }

  /** A file system begins; the first one decides where to. */
  static synchronized void begin(Configuration conf) {
    if (begun) {
      return;
    }
    begun = true;
    String dir = conf.getTrimmed(DIR, DEFAULT_DIR);
    try {
      Library.load();
      current = start(dir, conf.getTrimmed(RUN, ""));
    } catch (Throwable e) {
      LOG.info("tfs:// passes calls on and does not trace them: {}", e.getMessage());
      LOG.debug("tfs:// does not trace", e);
    }
  }

  private static Tracer start(String dir, String run) throws IOException {
    ProcessFacts facts =
        new ProcessFacts(
            System.getProperty("sun.java.command"), run, System.getenv("CONTAINER_ID"));
    Recorder.Options to = new Recorder.Options();
    to.dir = Paths.get(dir);
    to.text = facts.text("tfs " + ProcessFacts.VERSION);
    Recorder recorder = Recorder.open(to);
    long[] points = new long[Schema.PROCESS_MAX_POINTS];
    for (int point = Point.FIRST; point <= Point.LAST; point++) {
      points[point] = Recorder.facts(point, Schema.LAYER_FS, direction(point), false, false, 0, 0);
    }
    recorder.points(points);
    for (int point = Point.FIRST; point <= Point.LAST; point++) {
      recorder.pointState(point, Schema.POINT_STATE_WOVEN);
    }
    facts.reach(recorder, "");
    Tracer tracer = new Tracer(recorder);
    Watch watch = new Watch(recorder, tracer);
    watch.look();
    watch.start();
    ShutdownHookManager.get().addShutdownHook(watch::end, HOOK_PRIORITY);
    return tracer;
  }

  /** A number for the direction that bytes go in; 0: they do not. */
  private static int direction(int point) {
    switch (point) {
      case Point.READ:
      case Point.READ_AT:
        return 1;
      case Point.READ_VECTORED:
        return 2;
      case Point.WRITE:
        return 3;
      default:
        return 0;
    }
  }

  /** From here on, or until here. */
  void record(boolean records) {
    for (int point = Point.FIRST; point <= Point.LAST; point++) {
      off[point - Point.FIRST] = recorder.isOff(point);
      recorder.pointOff(point, recorder.isOff(point));
    }
    this.records = records;
  }

  /** Something is recorded just now: worth to find out what a call is about. */
  static boolean isOn() {
    Tracer tracer = current;
    return tracer != null && tracer.records;
  }

  /**
   * A call begins.
   *
   * @param target null: that of the enclosing call
   * @param asked bytes asked for, 0 none
   * @param offset -1 none
   * @return what {@link #exit} and {@link #failed} take; null: the call is not written
   */
  static ThreadLog enter(int point, Target target, long asked, long offset) {
    Tracer tracer = current;
    if (tracer == null || !tracer.records || tracer.off[point - Point.FIRST]) {
      return null;
    }
    try {
      tracer.calls.increment();
      ThreadLog log = tracer.recorder.thread();
      long handle = target == null ? 0 : target.in(tracer.recorder);
      log.enter(point, handle, asked, offset, 0);
      return log;
    } catch (Throwable e) {
      return fault(tracer, point, e);
    }
  }

  /** It returns, having moved so many bytes; less than 0: none. */
  static void exit(ThreadLog log, int point, long bytes) {
    if (log != null) {
      try {
        log.exit(point, Math.max(0, bytes));
      } catch (Throwable e) {
        fault(current, point, e);
      }
    }
  }

  static void failed(ThreadLog log, int point, Throwable thrown) {
    if (log != null) {
      try {
        String name = thrown.getClass().getName();
        log.failed(point, (int) current.recorder.name(Schema.CATEGORY_EXCEPTION, name));
      } catch (Throwable e) {
        fault(current, point, e);
      }
    }
  }

  /** A call that is rare enough to be passed as an object. */
  interface Call<T> {
    T run() throws IOException;
  }

  /** The same of one that returns nothing. */
  interface Action {
    void run() throws IOException;
  }

  static <T> T traced(int point, Target target, Call<T> call) throws IOException {
    ThreadLog log = enter(point, target, 0, -1);
    T result;
    try {
      result = call.run();
    } catch (Throwable e) {
      failed(log, point, e);
      throw e;
    }
    exit(log, point, 0);
    return result;
  }

  static void run(int point, Target target, Action action) throws IOException {
    traced(
        point,
        target,
        () -> {
          action.run();
          return null;
        });
  }

  /** A fault of ours, as where no stack or memory is left: the point is off from now on. */
  private static ThreadLog fault(Tracer tracer, int point, Throwable fault) {
    tracer.off[point - Point.FIRST] = true;
    try {
      tracer.recorder.fault(point, fault.toString());
    } catch (Throwable again) {
      // nor is there anything left to say so
    }
    return null;
  }
}
