package io.iostrata.segment;

import java.io.IOException;
import java.util.Arrays;

/** The segments of one thread, one after the other: rows, slots, gaps, growth. */
final class SegmentChain {
  /** Calls after which a rejected segment is asked for again. */
  static final int RETRY_CALLS = 1024;

  /** Rings hold this many contexts and a call. */
  private static final int MAX_RESTATED = 16;

  private static final int GROWTH = 4;
  private static final int MAX_GROWTH = 64;

  /** The active one; null until the first call, and while none can be made. */
  Segment segment;

  /** Written so far. */
  long slots;

  private final Recorder recorder;
  private final ThreadLog log;

  /** Kept back in the segment, for points up to the last. */
  private int collapsedRows;

  private int lastPoint;
  private final int maxRing;
  private final int maxRows;
  private final OpenSpans open;
  private final Contexts contexts;
  private final PointLog[] points;
  private final RowIndex index = new RowIndex();
  private int threadName;
  private int position = -1;
  private int retryIn;
  private boolean rejected;

  /** Rows that do not say all yet. */
  private RowLog[] listed = new RowLog[8];

  private int unsaid;

  // Detail lost since the last slot: how many calls, between which times.
  private boolean gap;
  private long gapCalls;
  private long gapStart;
  private long gapEnd;

  SegmentChain(
      Recorder recorder, ThreadLog log, OpenSpans open, Contexts contexts, PointLog[] points) {
    this.recorder = recorder;
    this.log = log;
    this.open = open;
    this.contexts = contexts;
    this.points = points;
    Recorder.Options options = recorder.options;
    maxRing = options.ringSlots * MAX_GROWTH;
    maxRows = options.tableRows * MAX_GROWTH;
  }

  /** Asks for the thread's first segment; afterwards `segment` is null when there is none yet. */
  void begin() {
    if (--retryIn > 0) {
      return;
    }
    int last = recorder.lastPoint;
    int reserve = Recorder.collapsedRows(recorder.options.layerOfPoint);
    Segment first = firstOrNull();
    if (first == null) {
      refuse();
      return;
    }
    threadName = (int) recorder.name(Schema.CATEGORY_THREAD_NAME, log.thread.getName());
    use(first, reserve, last);
    recorder.begun(log);
    restate();
  }

  private Segment firstOrNull() {
    try {
      return recorder.pool.first();
    } catch (IOException full) {
      return null;
    }
  }

  private void refuse() {
    retryIn = RETRY_CALLS;
    if (!rejected) {
      rejected = true;
      recorder.count(Schema.PROCESS_COUNTER_REFUSED_SEGMENTS, 1);
    }
  }

  private void use(Segment next, int reserve, int last) {
    collapsedRows = reserve;
    lastPoint = last;
    rejected = false;
    retryIn = 0;
    store();
    index.clear();
    for (int i = 0; i < points.length; i++) {
      if (points[i] != null) {
        points[i].forget();
      }
    }
    next.begin(log.thread.getId(), threadName, ++position);
    open.moveTo(next);
    segment = next;
  }

  /**
   * A recording begins and nothing is open: what is remembered of the jobs and clients of those
   * before is let go, with their segment, where it is more than a thread begins with.
   */
  void renew() {
    if (index.size() <= recorder.options.tableRows) {
      return;
    }
    int last = recorder.lastPoint;
    int reserve = Recorder.collapsedRows(recorder.options.layerOfPoint);
    try {
      Segment next = recorder.pool.withRing();
      if (next != null) {
        replace(next, reserve, last);
      }
    } catch (IOException full) {
      // the old one has room, or says what has none
    }
  }

  /** Seals the segment and goes on in a larger one; false when there is none. */
  private boolean grow(boolean ring, boolean table) {
    if (--retryIn > 0) {
      return false;
    }
    Segment old = segment;
    int ringSlots = Math.max(old.ringSlots, recorder.options.ringSlots);
    int rows = old.tableRows - collapsedRows;
    // Points may have come since the old one was made.
    int last = recorder.lastPoint;
    int reserve = Recorder.collapsedRows(recorder.options.layerOfPoint);
    Segment next;
    try {
      next =
          recorder.pool.successor(
              ring ? Math.min(maxRing, ringSlots * GROWTH) : old.ringSlots,
              (table ? Math.min(maxRows, rows * GROWTH) : rows) + reserve,
              ring ? ringSlots : old.ringSlots,
              old.tableRows - collapsedRows + reserve);
    } catch (IOException full) {
      refuse();
      return false;
    }
    if (next == null) {
      // The cap bounds growth by design: what it costs is counted as gaps and collapsed calls, call
      // by call.
      retryIn = RETRY_CALLS;
      return false;
    }
    replace(next, reserve, last);
    return true;
  }

  private void replace(Segment next, int reserve, int last) {
    Segment old = segment;
    tellGap();
    use(next, reserve, last);
    old.depth(0);
    recorder.pool.seal(old);
  }

  /** The row of a key, of this point; null, and counted as lost, when there is no room for it. */
  @DontInline
  RowLog row(PointLog point, long key, long scope) {
    RowLog row = point.row(key, scope);
    if (row == null) {
      row = index.find(key, scope);
      row = row == null ? newRow(key, scope) : row;
      if (row == null) {
        row = collapsedRow(point, key);
        if (row == null) {
          log.lost();
        }
        return row;
      }
      point.met(row);
    }
    return row;
  }

  /** Null when there is no room. */
  private RowLog newRow(long key, long scope) {
    int at = segment.newRow(key, scope, collapsedRows);
    if (at < 0 && grow(false, true)) {
      at = segment.newRow(key, scope, collapsedRows);
    }
    return at > 0 ? added(new RowLog(key, scope, at)) : null;
  }

  /** The row for what has no room for one of its own; null: nor has the point any. */
  private RowLog collapsedRow(PointLog point, long key) {
    segment.countFold();
    long collapsed = Row.collapsedKey(key);
    RowLog row = index.find(collapsed, 0);
    if (row == null) {
      // A point that came later has nothing kept back for it, and may not take what others have.
      int at = segment.newRow(collapsed, 0, point.id > lastPoint ? collapsedRows : 0);
      row = at > 0 ? added(new RowLog(collapsed, 0, at)) : null;
    }
    return row;
  }

  private RowLog added(RowLog row) {
    index.add(row);
    return row;
  }

  /** Writes the slot of a finished call, or counts it as a gap. */
  @DontInline
  void call(OpenSpan call, long dur, long bytes, int ret) {
    if ((gap || segment.full()) && !makeRoom()) {
      drop(call.start, call.start + dur);
      return;
    }
    long result = Slot.result(ret, call.asked);
    slots++;
    segment.append(
        call.start,
        dur,
        bytes,
        call.offset,
        call.what(Schema.KIND_CALL),
        result,
        call.span,
        call.parent);
  }

  /** Writes a `begin` slot if there is room; its call is counted anyway. */
  void begun(OpenSpan call) {
    if ((gap || segment.full()) && !makeRoom()) {
      return;
    }
    long result = Slot.result(0, call.asked);
    slots++;
    segment.append(
        call.start,
        0,
        0,
        call.offset,
        call.what(Schema.KIND_BEGIN),
        result,
        call.span,
        call.parent);
  }

  /**
   * Writes the slot of the context that is on top from now on.
   *
   * @param point of the call that it was pushed for, 0 none
   * @param waited ns since its cause handed it over
   */
  void context(int point, long waited) {
    if ((gap || segment.full()) && !makeRoom()) {
      gap = true; // the contexts are restated behind it
      return;
    }
    context(contexts.open() - 1, point, waited);
  }

  private void context(int level, int point, long waited) {
    slots++;
    Cause cause = contexts.cause(level);
    long start = contexts.since(level);
    int sampling = contexts.sampling(level);
    long result = Slot.result(0, sampling == Detail.ALL_REQUESTS ? 0 : sampling);
    if (cause == null) {
      long what = Slot.what(contexts.id(level), point, Schema.KIND_CONTEXT, 0);
      segment.append(start, waited, 0, -1, what, result, 0, 0);
      return;
    }
    long what = Slot.what(contexts.id(level), point, Schema.KIND_CONTEXT, Schema.FLAG_REMOTE);
    segment.append(start, waited, 0, cause.trace, what, result, cause.span, cause.proc);
  }

  /** Slots of the innermost open contexts, outer ones first. */
  private void restate() {
    int open = contexts.open();
    if (segment.room() < restated()) {
      gap = true;
      return;
    }
    for (int level = open - restated(); level < open; level++) {
      context(level, 0, 0);
    }
  }

  private int restated() {
    return Math.min(contexts.open(), MAX_RESTATED);
  }

  private void drop(long start, long end) {
    segment.countGap();
    if (gapCalls == 0 || start < gapStart) {
      gapStart = start;
    }
    gap = true;
    gapCalls++;
    gapEnd = end;
  }

  /** Makes room for one slot and, behind a gap, for what has to be said first. */
  private boolean makeRoom() {
    int needed = 1 + (gap ? 1 + restated() : 0);
    if (segment.room() < needed || segment.exhausted()) {
      if (!grow(true, false) || segment.room() < needed) {
        return false;
      }
    }
    if (gap) {
      writeGap();
    }
    return true;
  }

  private void writeGap() {
    gap = false;
    appendGap();
    restate();
  }

  /**
   * In the slot that is kept back: nothing more comes here, and what was lost belongs to the
   * segment that counted it.
   */
  private void tellGap() {
    if (gapCalls > 0 && segment.ringSlots > 0) {
      appendGap();
    }
  }

  private void appendGap() {
    long what = Slot.what(0, 0, Schema.KIND_GAP, 0);
    segment.append(gapStart, gapEnd - gapStart, gapCalls, -1, what, 0, 0, 0);
    gapCalls = 0;
    gapStart = 0;
    gapEnd = 0;
  }

  /** There are calls that this row does not say yet. */
  void list(RowLog row) {
    if (unsaid == listed.length) {
      listed = Arrays.copyOf(listed, unsaid * 2);
    }
    listed[unsaid++] = row;
    row.listed = true;
  }

  /** Makes all rows say what is known. */
  @DontInline
  void store() {
    while (unsaid > 0) {
      RowLog row = listed[--unsaid];
      row.listed = false;
      row.store(segment);
    }
  }

  /** After this no one writes to the segment: its thread has ended or failed. */
  void seal() {
    Segment last = segment;
    if (last != null) {
      store();
      tellGap();
      recorder.pool.seal(last);
    }
  }
}
