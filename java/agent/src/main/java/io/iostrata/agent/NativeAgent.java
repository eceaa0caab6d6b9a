package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.io.IOException;

/**
 * What the native loader ({@code rust/jvmti}) calls. A short task pays for each class and each line
 * that runs here: neither the point table is read nor the weaver loaded before a class needs them.
 */
final class NativeAgent {
  /** Null before the agent has started. */
  static volatile Loader loader;

  private NativeAgent() {}

  /**
   * Called once the JVM is up, or by its attach protocol. Never throws.
   *
   * @param text options as written behind the library
   * @param more lines key=value for the process page
   * @param container {@code CONTAINER_ID} of YARN; null when there is none
   * @param points identity of the library's point table
   * @return the one line we owe; empty for none
   */
  static String start(String text, String more, String container, long points) {
    AgentOptions options = new AgentOptions();
    Answer answer = new Answer();
    try {
      options.parse(text);
      if (points != Schema.POINTS_HASH) {
        throw new IOException("library and jar are of two builds: install both of one");
      }
      if (options.detach) {
        Session.detach(answer);
      } else {
        Recorder.Options to = options.recorder();
        to.text = more;
        Session.attach(options, container, to, new NativeClasses(), answer);
      }
    } catch (Throwable e) {
      answer.refuse(e);
    }
    return answer.give(options);
  }

  /** False for a loader that hides the hooks: a woven class would fail where it is used. */
  static boolean sees(ClassLoader of) throws ClassNotFoundException {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      return Loader.sees(of);
    } finally {
      probe.busy = busy;
    }
  }

  /** The current thread ends: what it wrote can be drained to its end at once. */
  static void threadEnded() {
    Probe.forgetThread();
    Recorder recorder = Hooks.recorder;
    if (recorder != null) {
      recorder.endThread();
    }
  }

  /** A class stays as it is because its loader does not see the hooks. */
  static void refused(String name) {
    loader.refused(name);
  }

  /** See {@link Loader#transform}: of a class that users may have points in. */
  static byte[] transform(ClassLoader of, String name, byte[] classFile) {
    return loader.transform(of, name, classFile);
  }

  /**
   * Weaves a class that the cache does not have.
   *
   * @param records with points that count records
   * @return as {@code rust/jvmti/src/woven.rs} reads it; null when the class stays as it is for a
   *     fault of ours
   */
  static byte[] weave(String name, byte[] classFile, boolean records) {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      Weaver.Woven woven = loader.weave(name, classFile, records);
      return woven == null ? null : bytes(woven);
    } finally {
      probe.busy = busy;
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
      loader.state(number(points, at), state);
    }
    return end;
  }

  private static int number(byte[] from, int at) {
    return (from[at] & 0xFF) << 8 | from[at + 1] & 0xFF;
  }
}
