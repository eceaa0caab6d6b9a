package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;

/** Hands classes to the weaver as the JVM loads them. */
final class Loader implements ClassFileTransformer {
  private final PointTable table;

  /** States of points found before the recorder is open. */
  private final byte[] states = new byte[Schema.PROCESS_MAX_POINTS];

  private Recorder recorder;

  Loader(PointTable table) {
    this.table = table;
  }

  @Override
  public byte[] transform(
      ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    Point[] points = table.of(name);
    if (points.length == 0) {
      return null;
    }
    try {
      return weave(loader, points, bytes);
    } catch (Throwable e) {
      fault(points, e);
      return null;
    }
  }

  private byte[] weave(ClassLoader loader, Point[] points, byte[] bytes) throws Exception {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      // A loader that hides the hooks would make the woven class fail where it is used.
      if (loader != null && Class.forName(Hooks.class.getName(), false, loader) != Hooks.class) {
        throw new IllegalStateException(loader + " has another " + Hooks.class.getName());
      }
      Weaver.Woven woven = Weaver.weave(bytes, points);
      state(woven.found, Schema.POINT_STATE_WOVEN);
      state(woven.missing, Schema.POINT_STATE_MISSING);
      return woven.bytes;
    } finally {
      probe.busy = busy;
    }
  }

  private synchronized void state(Point[] points, int state) {
    for (int i = 0; i < points.length; i++) {
      states[points[i].id] = (byte) state;
      if (recorder != null) {
        recorder.pointState(points[i].id, state);
      }
    }
  }

  private synchronized void fault(Point[] points, Throwable e) {
    for (int i = 0; i < points.length && recorder != null; i++) {
      recorder.fault(points[i].id, e.toString());
    }
  }

  /** From here on states go to the process page, with those known so far. */
  synchronized void report(Recorder recorder) {
    this.recorder = recorder;
    for (int point = 0; point < states.length; point++) {
      if (states[point] != 0) {
        recorder.pointState(point, states[point]);
      }
    }
  }

  /**
   * Weaves all that was loaded before us: at the start of a JVM a few classes of java.io, and
   * whatever an agent that came first has used. Asking for them by name would load the others.
   */
  void weaveLoaded(Classes classes) throws Exception {
    ArrayList<Class<?>> loaded = new ArrayList<>();
    Class<?>[] all = classes.loaded();
    for (int i = 0; i < all.length; i++) {
      Point[] points = table.of(all[i].getName().replace('.', '/'));
      if (points.length > 0 && pending(points)) {
        loaded.add(all[i]);
      }
    }
    if (!loaded.isEmpty()) {
      classes.retransform(loaded.toArray(new Class<?>[0]));
    }
  }

  private synchronized boolean pending(Point[] points) {
    return states[points[0].id] == 0;
  }
}
