package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;

/**
 * The points of users: DIR/runs/RUN.points, for as long as its run is on. Only those of root and of
 * this process's own user are taken: nobody chooses what others' processes are woven with. A point
 * keeps its id as long as the agent lives, so that rows and names never change their meaning.
 */
final class UserPoints {
  private static final int MAX_BYTES = 256 << 10;

  /** What the hooks themselves call before they know that they were called by themselves. */
  private static final String[] OURS = {
    "java/lang/", "java/util/", "jdk/internal/", "java/nio/", "sun/misc/"
  };

  private final Recorder recorder;
  private final Loader loader;
  private final Classes classes;

  /** By what their line says behind the id. */
  private final HashMap<String, Point> known = new HashMap<>();

  private HashMap<String, Point> current = new HashMap<>();
  private final boolean[] in = new boolean[Schema.PROCESS_MAX_POINTS];
  private int lastId = Schema.PROCESS_FIRST_USER_POINT - 1;

  UserPoints(Recorder recorder, Loader loader, Classes classes) {
    this.recorder = recorder;
    this.loader = loader;
    this.classes = classes;
  }

  /** Takes up what users ask for now, and puts away what they do not any more. Never throws. */
  void follow(boolean recording) {
    HashMap<String, Point> wanted = new HashMap<>();
    if (recording) {
      read(wanted);
    }
    if (wanted.keySet().equals(current.keySet())) {
      return;
    }
    HashSet<String> changed = new HashSet<>();
    changed(current, wanted, changed);
    changed(wanted, current, changed);
    Arrays.fill(in, false);
    for (Point point : wanted.values()) {
      in[point.id] = true;
    }
    current = wanted;
    loader.users(wanted.values());
    loader.weaveAgain(classes, changed);
  }

  private static void changed(
      HashMap<String, Point> from, HashMap<String, Point> to, HashSet<String> changed) {
    for (String line : from.keySet()) {
      if (!to.containsKey(line)) {
        changed.add(from.get(line).internalName);
      }
    }
  }

  /** True for a point of a user that no run asks for now. */
  boolean isOut(int point) {
    return point >= Schema.PROCESS_FIRST_USER_POINT && !in[point];
  }

  private void read(HashMap<String, Point> wanted) {
    String[] names = recorder.runs().list();
    for (int i = 0; names != null && i < names.length; i++) {
      String run = names[i].endsWith(".points") ? names[i].substring(0, names[i].length() - 7) : "";
      if (run.isEmpty() || !new File(recorder.runs(), run + ".run").isFile()) {
        continue;
      }
      try {
        take(text(new File(recorder.runs(), names[i])), wanted);
      } catch (Throwable e) {
        recorder.complain(names[i] + ": " + e);
      }
    }
  }

  /** Empty for a file of somebody else. */
  private String text(File file) throws IOException {
    Path path = file.toPath();
    int owner = (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    boolean whole =
        Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)
            && (Integer) Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS) == 1
            && Files.size(path) <= MAX_BYTES;
    if (!whole || owner != 0 && owner != recorder.uid()) {
      return "";
    }
    return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
  }

  private void take(String text, HashMap<String, Point> wanted) throws IOException {
    ArrayList<String> lines = lines(text);
    if (lines.isEmpty()) {
      return;
    }
    if (!lines.get(0).equals(lines(PointText.table()).get(0))) {
      throw new IOException("its fields are not those of agent " + Agent.VERSION);
    }
    for (int i = 1; i < lines.size(); i++) {
      String line = lines.get(i);
      String definition = line.substring(line.indexOf('\t') + 1);
      Point point = known.get(definition);
      point = point == null ? introduce(definition) : point;
      if (point != null) {
        wanted.put(definition, point);
      }
    }
  }

  /** Null when the point may not be or there is no id left for it, which is counted. */
  private Point introduce(String definition) throws IOException {
    String[] row = row(definition);
    if (lastId + 1 == Schema.PROCESS_MAX_POINTS) {
      throw new IOException("no id is left for " + row[3] + "#" + row[4]);
    }
    row[0] = Integer.toString(lastId + 1);
    Point point = new Point(row);
    refuse(point);
    Hooks.install(point);
    lastId++;
    known.put(definition, point);
    recorder.addPoint(
        point.id,
        point.layer,
        point.scope,
        point.begin,
        loader.direction(point),
        point.op,
        row[3] + "#" + point.method + point.descriptor);
    return point;
  }

  /** What the command line has checked, once more: a file may come from elsewhere. */
  static void refuse(Point point) throws IOException {
    String name = point.internalName + "#" + point.method;
    if (point.own || point.effectOnly || point.context != null || point.effect != null) {
      throw new IOException(name + " would change who calls belong to");
    }
    boolean inside = point.bytes != null && point.bytes.isInside();
    if (point.method.startsWith("<") || inside || point.through != null) {
      throw new IOException(name + " cannot be a point of a user");
    }
    for (int i = 0; i < OURS.length; i++) {
      if (point.internalName.startsWith(OURS[i])) {
        throw new IOException(name + " is called by the agent itself");
      }
    }
    if (point.internalName.startsWith("iostrata/", "io/".length())) {
      throw new IOException(name + " is the agent itself");
    }
  }

  /** The fields with room for the id. */
  private static String[] row(String definition) throws IOException {
    String[] row = new String[Point.FIELDS];
    int at = 0;
    for (int field = 1; field < Point.FIELDS; field++) {
      int end = field == Point.FIELDS - 1 ? definition.length() : definition.indexOf('\t', at);
      if (end < at) {
        throw new IOException("a line has fewer than " + Point.FIELDS + " fields");
      }
      row[field] = definition.substring(at, end);
      at = end + 1;
    }
    return row;
  }

  private static ArrayList<String> lines(String text) {
    ArrayList<String> lines = new ArrayList<>();
    int at = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      lines.add(text.substring(at, end));
      at = end + 1;
    }
    return lines;
  }
}
