package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;

/** Hands classes to the weaver as the JVM loads them, and those that are loaded a second time. */
final class Loader {
  private static final int MAX_FAILURES = 2_000;
  private static final String HIDDEN = "its class loader has another " + Hooks.class.getName();

  private final Recorder recorder;

  /** Read when it is needed: a JVM whose classes all come from a cache never does. */
  private volatile PointTable table;

  private final byte[] states = new byte[Schema.PROCESS_MAX_POINTS];

  /** Classes that users have or had points in. */
  private final HashSet<String> ofUsers = new HashSet<>();

  /** Classes that the JVM refused to change, and why. */
  private final StringBuilder failures = new StringBuilder();

  /** Classes that the JVM refused with what users want of them. */
  private final HashSet<String> spoiled = new HashSet<>();

  /** Whether points that count records are woven. */
  private volatile boolean records;

  /** From here on classes get back what they were. */
  private volatile boolean ended;

  Loader(Recorder recorder) {
    this.recorder = recorder;
  }

  /** Mostly without the lock: threads that load classes wait for nobody. */
  private PointTable table() {
    PointTable known = table;
    return known != null ? known : readTable();
  }

  private synchronized PointTable readTable() {
    if (table == null) {
      table = PointTable.parse(PointText.table());
    }
    return table;
  }

  /** Whether a class has points, or had some of users. */
  synchronized boolean knows(String name) {
    return ofUsers.contains(name) || table().of(name).length > 0;
  }

  /** Woven bytes of a class that is being loaded; null: it stays as it is. Never throws. */
  byte[] transform(ClassLoader loader, String name, byte[] bytes) {
    Point[] points = wanted(name);
    if (points.length == 0) {
      return null;
    }
    try {
      return weave(loader, points, bytes);
    } catch (Throwable e) {
      return withoutUsers(loader, points, bytes, e);
    }
  }

  private Point[] wanted(String name) {
    Point[] points = ended ? PointTable.NONE : table().of(name);
    points = records ? points : PointTable.withoutRecords(points);
    return points.length > 0 && isSpoiled(name) ? PointTable.of(points, false) : points;
  }

  private synchronized boolean isSpoiled(String name) {
    return spoiled.contains(name);
  }

  private byte[] weave(ClassLoader loader, Point[] points, byte[] bytes) throws Exception {
    Probe probe = Probe.current();
    boolean busy = probe.busy;
    probe.busy = true;
    try {
      if (!sees(loader)) {
        throw new IllegalStateException(HIDDEN);
      }
      Weaver.Woven woven = Weaver.weave(bytes, points);
      state(woven.found, Schema.POINT_STATE_WOVEN);
      state(woven.missing, Schema.POINT_STATE_MISSING);
      return woven.bytes;
    } finally {
      probe.busy = busy;
    }
  }

  /** False for a loader that hides the hooks: a woven class would fail where it is used. */
  static boolean sees(ClassLoader loader) throws ClassNotFoundException {
    return loader == null || Class.forName(Hooks.class.getName(), false, loader) == Hooks.class;
  }

  /** A class stays as it is because its loader does not see the hooks. */
  void refused(String name) {
    fault(table().of(name), new IllegalStateException(HIDDEN));
  }

  /**
   * What the weaver makes of our points in a class; null for a fault of ours.
   *
   * @param counting with those that count records
   */
  Weaver.Woven weave(String name, byte[] classFile, boolean counting) {
    Point[] ours = PointTable.of(table().of(name), false);
    Point[] points = counting ? ours : PointTable.withoutRecords(ours);
    try {
      return Weaver.weave(classFile, points);
    } catch (Throwable e) {
      fault(points, e);
      return null;
    }
  }

  /** A point of a user may not cost ours their class. */
  private byte[] withoutUsers(ClassLoader loader, Point[] points, byte[] bytes, Throwable e) {
    Point[] ours = PointTable.of(points, false);
    if (ours.length == points.length) {
      fault(ours, e);
      return null;
    }
    fault(PointTable.of(points, true), e);
    if (ours.length == 0) {
      return null;
    }
    try {
      return weave(loader, ours, bytes);
    } catch (Throwable again) {
      fault(ours, again);
      return null;
    }
  }

  private synchronized void state(Point[] points, int state) {
    for (int i = 0; i < points.length; i++) {
      state(points[i].id, state);
    }
  }

  /** See {@code point_state} of schema/events.toml. */
  synchronized void state(int point, int state) {
    states[point] = (byte) state;
    recorder.pointState(point, state);
  }

  private synchronized void fault(Point[] points, Throwable e) {
    for (int i = 0; i < points.length; i++) {
      recorder.fault(points[i].id, e.toString());
    }
  }

  /**
   * Weaves all that was loaded before us: at the start of a JVM a few classes of java.io, and
   * whatever an agent that came first has used. Asking for them by name would load the others.
   *
   * @return how many classes
   */
  int weaveLoaded(Classes classes) {
    return retransform(classes, new ArrayList<>(Arrays.asList(classes.loaded())));
  }

  /** From here on these are the points of users. */
  synchronized void users(Collection<Point> points) {
    for (Point point : points) {
      ofUsers.add(point.internalName);
    }
    table().users(points);
  }

  /** See {@link PointTable#direction}. */
  byte direction(Point point) {
    return table().direction(point);
  }

  /** From here on classes are handed over, with the points that the control page asks for. */
  void begin(Classes classes) {
    records = recorder.controlWord() != 0 && recorder.countsRecords();
    classes.countRecords(records);
    classes.begin(this, recorder);
  }

  /** Whether points that count records are woven. */
  boolean countsRecords() {
    return records;
  }

  /**
   * From here on classes are woven with points that count records, or without; also those that are
   * loaded. Again it weaves those that another thread was loading meanwhile.
   */
  void countRecords(Classes classes, boolean wanted) {
    boolean changed = records != wanted;
    records = wanted;
    classes.countRecords(wanted);
    HashSet<String> names = new HashSet<>();
    for (Point[] points : table().classes()) {
      for (int i = 0; i < points.length; i++) {
        if (points[i].countsRecords) {
          names.add(points[i].internalName);
          if (changed && !wanted) {
            state(points[i].id, Schema.POINT_STATE_ABSENT);
          }
        }
      }
    }
    weaveLoaded(classes, names);
  }

  /** Weaves these classes, by internal name, as the table says now, where they are loaded. */
  int weaveAgain(Classes classes, Collection<String> names) {
    classes.users(names);
    return weaveLoaded(classes, names);
  }

  private int weaveLoaded(Classes classes, Collection<String> names) {
    ArrayList<Class<?>> loaded = new ArrayList<>();
    Class<?>[] all = classes.loaded();
    for (int i = 0; i < all.length; i++) {
      if (names.contains(internalName(all[i]))) {
        loaded.add(all[i]);
      }
    }
    return retransform(classes, loaded);
  }

  /**
   * Gives all classes their own bytes back. A class that another thread was loading meanwhile may
   * stay woven: its hooks are off.
   *
   * @return how many classes
   */
  int weaveOut(Classes classes) {
    ended = true;
    classes.end();
    synchronized (this) {
      failures.setLength(0);
    }
    ArrayList<Class<?>> woven = new ArrayList<>();
    Class<?>[] all = classes.loaded();
    for (int i = 0; i < all.length; i++) {
      if (isWoven(table().of(internalName(all[i])))) {
        woven.add(all[i]);
      }
    }
    return retransform(classes, woven);
  }

  private synchronized boolean isWoven(Point[] points) {
    for (int i = 0; i < points.length; i++) {
      if (states[points[i].id] == Schema.POINT_STATE_WOVEN) {
        return true;
      }
    }
    return false;
  }

  static String internalName(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  /** All at once, which costs the JVM one halt; one at a time if a class is in the way. */
  private int retransform(Classes classes, ArrayList<Class<?>> some) {
    if (some.isEmpty()) {
      return 0;
    }
    try {
      classes.retransform(some.toArray(new Class<?>[0]));
      return some.size();
    } catch (Throwable all) {
      int done = 0;
      for (int i = 0; i < some.size(); i++) {
        done += retransform(classes, some.get(i)) ? 1 : 0;
      }
      return done;
    }
  }

  private boolean retransform(Classes classes, Class<?> one) {
    try {
      classes.retransform(new Class<?>[] {one});
      return true;
    } catch (Throwable e) {
      return spoil(internalName(one), e) ? retransform(classes, one) : failed(one, e);
    }
  }

  /** True when there is still a way: without the points of users. */
  private synchronized boolean spoil(String name, Throwable e) {
    Point[] users = PointTable.of(table().of(name), true);
    if (ended || users.length == 0 || !spoiled.add(name)) {
      return false;
    }
    fault(users, e);
    return true;
  }

  private synchronized boolean failed(Class<?> one, Throwable e) {
    if (failures.length() < MAX_FAILURES) {
      failures.append(failures.length() == 0 ? "" : "; ");
      failures.append(one.getName()).append(": ").append(e);
    }
    if (!ended) {
      fault(table().of(internalName(one)), e);
    }
    return false;
  }

  /** {@code CLASS: why} of those that could not be changed; empty for none. */
  synchronized String failures() {
    return failures.toString();
  }

  /** Ids of the points that are woven, with commas between them. */
  synchronized String woven() {
    StringBuilder ids = new StringBuilder();
    for (int point = 0; point < states.length; point++) {
      if (states[point] == Schema.POINT_STATE_WOVEN) {
        ids.append(ids.length() == 0 ? "" : ",").append(point);
      }
    }
    return ids.toString();
  }
}
