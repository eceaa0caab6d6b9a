package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.io.File;
import java.io.IOException;

/**
 * Where the native loader ({@code rust/jvmti}) starts us, and asks for what its cache lacks. A
 * short task pays for each class and each line that runs here: neither the point table is read nor
 * the weaver loaded before a class needs them.
 */
final class NativeAgent {
  private static PointTable table;

  private NativeAgent() {}

  /**
   * Called once the JVM is up. Never throws.
   *
   * @param options as written behind the library
   * @param facts lines key=value for the process page
   * @param container {@code CONTAINER_ID} of YARN; null when there is none
   * @param numbers identity of the library's point table, then pid, effective uid, start of the
   *     process in clock ticks since boot, memory limit of its cgroup in bytes
   * @return the one line we owe
   */
  static String start(String options, String facts, String container, long[] numbers) {
    try {
      if (numbers[0] != Schema.POINTS_HASH) {
        throw new IOException("library and jar are of two builds: install both of one");
      }
      return begin(AgentOptions.parse(options), facts, container, numbers);
    } catch (Throwable e) {
      return "not tracing: " + (e instanceof IOException ? e.getMessage() : e.toString());
    }
  }

  private static String begin(AgentOptions options, String more, String container, long[] numbers)
      throws Exception {
    if (Hooks.recorder != null) {
      throw new IOException("this JVM has an agent already");
    }
    if (!new File(options.dir).isDirectory()) {
      throw new IOException(options.dir + " is no directory");
    }
    ProcessFacts facts =
        new ProcessFacts(System.getProperty("sun.java.command"), options.run, container);
    Recorder.Options to = recorderOptions(options, facts.text() + more, numbers);
    Recorder recorder = Recorder.open(to);
    Hooks.recorder = recorder;
    ProcessFacts.current = facts;
    facts.reach(recorder, "");
    NativeClasses.pauses(to.proc, facts.context(recorder));
    // Only now: while the hook is on, the JVM reads the file of each class of its own archive.
    NativeClasses.begin();
    Classes classes = new NativeClasses();
    Class<?>[] loaded = classes.loaded();
    if (loaded.length > 0) {
      classes.retransform(loaded);
    }
    ControlWatch watch = new ControlWatch(recorder);
    boolean recording = watch.look();
    watch.start();
    return recording ? "recording to " + options.dir : "ready in " + options.dir + ", off";
  }

  private static Recorder.Options recorderOptions(
      AgentOptions options, String text, long[] numbers) {
    Recorder.Options to = new Recorder.Options();
    to.dir = new File(options.dir).toPath();
    to.text = text;
    to.files = new NativeFiles();
    to.pid = (int) numbers[1];
    to.uid = (int) numbers[2];
    to.pidStart = numbers[3];
    to.capBytes = options.capBytes != 0 ? options.capBytes : Recorder.capBytes(numbers[4]);
    PointCodes.install(to);
    return to;
  }

  /** False for a loader that hides the hooks: a woven class would fail where it is used. */
  static boolean sees(ClassLoader loader) throws ClassNotFoundException {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      return Class.forName(Hooks.class.getName(), false, loader) == Hooks.class;
    } finally {
      probe.busy = busy;
    }
  }

  /** The current thread ends: what it wrote can be drained to its end at once. */
  static void threadEnded() {
    Probe.forgetThread();
    Hooks.recorder.endThread();
  }

  /** A class stays as it is because its loader does not see the hooks. */
  static void refused(String name) {
    fault(table().of(name), "its class loader has another " + Hooks.class.getName());
  }

  /**
   * Weaves a class that the cache does not have.
   *
   * @return as {@code rust/jvmti/src/woven.rs} reads it; null when the class stays as it is for a
   *     fault of ours
   */
  static byte[] weave(String name, byte[] classFile) {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      Point[] points = table().of(name);
      try {
        return bytes(Weaver.weave(classFile, points));
      } catch (Throwable e) {
        fault(points, e.toString());
        return null;
      }
    } finally {
      probe.busy = busy;
    }
  }

  private static synchronized PointTable table() {
    if (table == null) {
      table = PointTable.parse(PointText.table());
    }
    return table;
  }

  private static void fault(Point[] points, String message) {
    for (int i = 0; i < points.length; i++) {
      Hooks.recorder.fault(points[i].id, message);
    }
  }

  private static byte[] bytes(Weaver.Woven woven) {
    int found = woven.found.length;
    int missing = woven.missing.length;
    int size = woven.bytes == null ? 0 : woven.bytes.length;
    byte[] all = new byte[4 + 2 * (found + missing) + size];
    int at = points(all, 0, woven.found);
    at = points(all, at, woven.missing);
    if (size > 0) {
      System.arraycopy(woven.bytes, 0, all, at, size);
    }
    return all;
  }

  private static int points(byte[] to, int start, Point[] points) {
    int at = put(to, start, points.length);
    for (int i = 0; i < points.length; i++) {
      at = put(to, at, points[i].id);
    }
    return at;
  }

  private static int put(byte[] to, int at, int number) {
    to[at] = (byte) (number >>> 8);
    to[at + 1] = (byte) number;
    return at + 2;
  }

  /**
   * A woven class is about to be loaded.
   *
   * @param points begins with the ids of points found and of those missing, see {@link #weave}
   */
  static void woven(byte[] points) {
    int at = report(points, 0, Schema.POINT_STATE_WOVEN);
    report(points, at, Schema.POINT_STATE_MISSING);
  }

  private static int report(byte[] points, int start, int state) {
    int end = start + 2 + 2 * number(points, start);
    for (int at = start + 2; at < end; at += 2) {
      Hooks.recorder.pointState(number(points, at), state);
    }
    return end;
  }

  private static int number(byte[] from, int at) {
    return (from[at] & 0xFF) << 8 | from[at + 1] & 0xFF;
  }
}
