package io.iostrata.agent;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;

/**
 * What hooks and recorder need to know of the built-in points, without reading {@link PointText}:
 * that takes some milliseconds of each JVM that starts.
 */
final class PointCodes {
  private static final int ID = 0;
  private static final int LAYER = 1;
  private static final int SCOPE = 2;
  private static final int BEGIN = 3;
  private static final int DIRECTION = 4;
  private static final int ADDS_UP = 5;
  private static final int ADDED_UP = 6;
  private static final int TARGET = 7;
  private static final int CONTEXT = 8;
  private static final int EFFECT = 9;
  private static final int MEASURE = 10;
  private static final int FIELDS = 11;

  private PointCodes() {}

  /**
   * Before anything is woven.
   *
   * @return for {@link Recorder#points}
   */
  static long[] install() {
    Hooks.begin();
    long[] facts = new long[Schema.PROCESS_MAX_POINTS];
    char[] codes = PointRows.CODES.toCharArray();
    for (int at = 0; at < codes.length; at += FIELDS) {
      int id = code(codes, at + ID);
      int addedUp = code(codes, at + ADDED_UP);
      facts[id] =
          Recorder.facts(
              id,
              code(codes, at + LAYER),
              code(codes, at + DIRECTION),
              code(codes, at + SCOPE) != 0,
              code(codes, at + BEGIN) != 0,
              code(codes, at + ADDS_UP),
              addedUp);
      Hooks.ADDED_UP[id] = (byte) addedUp;
      Hooks.TARGETS[id] = extractor(Hooks.TARGETS, id, code(codes, at + TARGET));
      Hooks.CONTEXTS[id] = extractor(Hooks.CONTEXTS, id, code(codes, at + CONTEXT));
      Hooks.EFFECTS[id] = extractor(Hooks.EFFECTS, id, code(codes, at + EFFECT));
      Hooks.MEASURES[id] = extractor(Hooks.MEASURES, id, code(codes, at + MEASURE));
    }
    return facts;
  }

  /** A number from 0, moved to where a string constant takes no escapes that Java cares for. */
  private static int code(char[] codes, int at) {
    return codes[at] - PointRows.ZERO;
  }

  private static Extractor extractor(Extractor[] of, int point, int name) {
    return name == 0 ? null : new Late(of, point, PointRows.EXTRACTORS[name - 1]);
  }

  /** An extractor that is made when its point first runs, and then stands in its own place. */
  static final class Late extends Extractor {
    private final Extractor[] of;
    private final int point;
    final String name;

    private Late(Extractor[] of, int point, String name) {
      this.of = of;
      this.point = point;
      this.name = name;
    }

    private Extractor made() {
      Extractor made = Extractors.named(name);
      of[point] = made;
      return made;
    }

    @Override
    long of(Probe probe, Object a, Object b) throws Throwable {
      return made().of(probe, a, b);
    }

    @Override
    Object instead(Probe probe, Object returned) throws Throwable {
      return made().instead(probe, returned);
    }
  }
}
