package io.iostrata.segment;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The reading end in Java, for tests: what the collector does with the directory of one process.
 *
 * <p>{@link #poll} takes what is new and frees it. Without polling, {@link #peek} shows what lies
 * there and frees nothing. Both may run while the process writes; a reader belongs to one thread.
 */
public final class TraceReader {
  /** A slot; {@code target} is null for id 0. */
  public record Slot(
      int segment,
      int epoch,
      long tid,
      String kind,
      int point,
      long start,
      long dur,
      long bytes,
      long offset,
      long asked,
      int ret,
      int flags,
      long span,
      long parent,
      int targetId) {}

  /** A counter row. {@code torn}: left odd by a writer that was killed or failed. */
  public record Row(
      int segment,
      int point,
      int category,
      int sizeClass,
      int context,
      int flags,
      long scope,
      long count,
      long bytes,
      long asked,
      long errors,
      long timed,
      long timedDur,
      long min,
      long max,
      long lastEnd,
      long weight,
      double spread,
      long inside,
      boolean torn) {}

  /** An open span. */
  public record Open(long span, long start, long parent, int targetId, int point, int flags) {}

  /** A dictionary entry. */
  public record Entry(int id, int category, String name, int parent, long block, long generation) {}

  /** The process page; counters in the order of {@code process_counter}. */
  public record Page(
      long proc,
      int pid,
      int uid,
      long pidStart,
      long start,
      long pointsHash,
      int state,
      int seenControl,
      List<Long> counters,
      String text) {}

  private static final String[] KINDS = {"", "call", "begin", "context", "link", "gap"};
  private static final int LOCK_ATTEMPTS = 10_000;

  private final Path directory;
  private final boolean keepSlots;
  private final Map<Integer, MappedByteBuffer> segments = new TreeMap<>();
  private final Map<Integer, Entry> entries = new TreeMap<>();
  private final List<Slot> slots = new ArrayList<>();
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private long slotCount;
  private long gaps;
  private long collapsed;

  /** {@code directory}: DIR/UID/PID-PROC. */
  public TraceReader(Path directory) {
    this(directory, true);
  }

  TraceReader(Path directory, boolean keepSlots) {
    this.directory = directory;
    this.keepSlots = keepSlots;
  }

  /** The only process directory below {@code dir}. */
  public static TraceReader only(Path dir) throws IOException {
    List<Path> found = processes(dir);
    if (found.size() != 1) {
      throw new IOException(dir + " holds " + found.size() + " processes: " + found);
    }
    return new TraceReader(found.get(0));
  }

  /** All process directories below {@code dir}. */
  public static List<Path> processes(Path dir) throws IOException {
    try (Stream<Path> paths = Files.walk(dir, 3)) {
      return paths
          .filter(path -> path.getFileName().toString().equals("process"))
          .map(Path::getParent)
          .sorted()
          .toList();
    }
  }

  /** Everything that lies there now, nothing freed. */
  public TraceReader peek() throws IOException {
    slots.clear();
    slotCount = 0;
    rows.clear();
    gaps = 0;
    collapsed = 0;
    read(false);
    return this;
  }

  /** Takes new slots and frees them; sealed segments read to their end become drained. */
  public TraceReader poll() throws IOException {
    read(true);
    return this;
  }

  public List<Slot> slots() {
    return slots;
  }

  public List<Slot> calls() {
    return slots.stream().filter(slot -> slot.kind().equals("call")).toList();
  }

  /** Slots seen so far, kept or not. */
  public long slotCount() {
    return slotCount;
  }

  /** Last values of all rows, of drained segments too. */
  public List<Row> rows() {
    return new ArrayList<>(rows.values());
  }

  public long sum(java.util.function.ToLongFunction<Row> field) {
    return rows.values().stream().mapToLong(field).sum();
  }

  /** Calls without a slot, as peeked. */
  public long gaps() {
    return gaps;
  }

  /** Calls in collapsed rows, as peeked. */
  public long collapsed() {
    return collapsed;
  }

  /** Entry of a target; null for 0. */
  public Entry entry(int id) {
    return entries.get(id);
  }

  public String name(int id) {
    return id == 0 ? null : entries.get(id).name();
  }

  public Map<Integer, Entry> entries() {
    return entries;
  }

  /** Open spans of all active segments, outermost first. */
  public List<Open> open() {
    List<Open> open = new ArrayList<>();
    for (MappedByteBuffer memory : segments.values()) {
      int depth = memory.getInt(Schema.SEGMENT_OPEN_DEPTH);
      VarHandle.acquireFence();
      for (int d = 0; d < Math.min(depth, Schema.SEGMENT_OPEN_CAPACITY); d++) {
        int at = Schema.SEGMENT_OPEN + d * Schema.OPEN_SPAN_SIZE;
        open.add(
            new Open(
                memory.getLong(at + Schema.OPEN_SPAN_SPAN),
                memory.getLong(at + Schema.OPEN_SPAN_START),
                memory.getLong(at + Schema.OPEN_SPAN_PARENT),
                memory.getInt(at + Schema.OPEN_SPAN_TARGET),
                memory.getShort(at + Schema.OPEN_SPAN_POINT) & 0xFFFF,
                memory.get(at + Schema.OPEN_SPAN_FLAGS) & 0xFF));
      }
    }
    return open;
  }

  public Page page() throws IOException {
    return TraceFiles.page(directory.resolve("process"));
  }

  /** {@code point_state} of a point. */
  public int pointState(int point) throws IOException {
    return TraceFiles.wrap(directory.resolve("process")).get(Schema.PROCESS_POINTS + point * 8);
  }

  public int pointFaults(int point) throws IOException {
    return TraceFiles.wrap(directory.resolve("process"))
        .getInt(Schema.PROCESS_POINTS + point * 8 + 4);
  }

  private void read(boolean free) throws IOException {
    mapNew();
    segments.forEach((serial, memory) -> readSegment(serial, memory, free));
    if (keepSlots) {
      readDictionaries();
    }
  }

  /** A file belongs to its writer until it has an epoch. */
  private void mapNew() throws IOException {
    try (Stream<Path> paths = Files.list(directory)) {
      for (Path path : paths.filter(p -> p.toString().endsWith(".seg")).toList()) {
        int serial = Integer.parseInt(path.getFileName().toString().replace(".seg", ""));
        if (segments.containsKey(serial)) {
          continue;
        }
        try (FileChannel channel =
            FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          if (channel.size() < Schema.SEGMENT_HEADER) {
            continue;
          }
          MappedByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
          memory.order(ByteOrder.LITTLE_ENDIAN);
          int state = memory.getInt(Schema.SEGMENT_STATE);
          VarHandle.acquireFence();
          // Still being filled with zeros when it was mapped: next time.
          if (state == 0 || memory.capacity() < size(memory)) {
            continue;
          }
          TraceFiles.check(memory, Schema.FILE_KIND_SEGMENT, path.toString());
          segments.put(serial, memory);
        }
      }
    }
  }

  private static int size(ByteBuffer memory) {
    int rows = memory.getInt(Schema.SEGMENT_TABLE_ROWS) * Schema.ROW_SIZE;
    return Schema.SEGMENT_HEADER
        + rows
        + memory.getInt(Schema.SEGMENT_RING_SLOTS) * Schema.SLOT_SIZE;
  }

  private void readSegment(int serial, MappedByteBuffer memory, boolean free) {
    int epoch = memory.getInt(Schema.SEGMENT_EPOCH);
    if (free && memory.getInt(Schema.SEGMENT_DRAINED_EPOCH) == epoch) {
      return;
    }
    int state = memory.getInt(Schema.SEGMENT_STATE);
    VarHandle.acquireFence();
    long head = memory.getLong(Schema.SEGMENT_HEAD);
    VarHandle.acquireFence();
    int ring = memory.getInt(Schema.SEGMENT_RING_SLOTS);
    long tail = memory.getLong(Schema.SEGMENT_TAIL);
    if (head - tail > ring) {
      throw new AssertionError("segment " + serial + " head=" + head + " tail=" + tail);
    }
    int ringStart =
        Schema.SEGMENT_HEADER + memory.getInt(Schema.SEGMENT_TABLE_ROWS) * Schema.ROW_SIZE;
    slotCount += head - tail;
    for (long i = tail; keepSlots && i < head; i++) {
      int at = ringStart + (int) (i & ring - 1) * Schema.SLOT_SIZE;
      slots.add(slot(serial, epoch, memory, at));
    }
    readRows(serial, epoch, memory);
    gaps += free ? 0 : memory.getLong(Schema.SEGMENT_GAPS);
    collapsed += free ? 0 : memory.getLong(Schema.SEGMENT_FOLDED);
    if (free) {
      VarHandle.releaseFence();
      memory.putLong(Schema.SEGMENT_TAIL, head);
      if (state == Schema.STATE_SEALED) {
        gaps += memory.getLong(Schema.SEGMENT_GAPS);
        collapsed += memory.getLong(Schema.SEGMENT_FOLDED);
        VarHandle.releaseFence();
        memory.putInt(Schema.SEGMENT_DRAINED_EPOCH, epoch);
      }
    }
  }

  private static Slot slot(int serial, int epoch, ByteBuffer memory, int at) {
    return new Slot(
        serial,
        epoch,
        memory.getLong(Schema.SEGMENT_TID),
        KINDS[memory.get(at + Schema.SLOT_KIND)],
        memory.getShort(at + Schema.SLOT_POINT) & 0xFFFF,
        memory.getLong(at + Schema.SLOT_START),
        memory.getLong(at + Schema.SLOT_DUR),
        memory.getLong(at + Schema.SLOT_BYTES),
        memory.getLong(at + Schema.SLOT_OFFSET),
        memory.getInt(at + Schema.SLOT_ASKED) & 0xFFFFFFFFL,
        memory.getInt(at + Schema.SLOT_RET),
        memory.get(at + Schema.SLOT_FLAGS) & 0xFF,
        memory.getLong(at + Schema.SLOT_SPAN),
        memory.getLong(at + Schema.SLOT_PARENT),
        memory.getInt(at + Schema.SLOT_TARGET));
  }

  private void readRows(int serial, int epoch, MappedByteBuffer memory) {
    int used = memory.getInt(Schema.SEGMENT_ROWS);
    VarHandle.acquireFence();
    for (int i = 0; i < used; i++) {
      int at = Schema.SEGMENT_HEADER + i * Schema.ROW_SIZE;
      rows.put(serial + "/" + epoch + "/" + i, lockedRow(serial, memory, at));
    }
  }

  /** Reads a row between two equal even versions. */
  static Row lockedRow(int serial, ByteBuffer memory, int at) {
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
      int before = memory.getInt(at + Schema.ROW_VERSION);
      VarHandle.acquireFence();
      Row row = row(serial, memory, at, false);
      VarHandle.acquireFence();
      if ((before & 1) == 0 && before == memory.getInt(at + Schema.ROW_VERSION)) {
        return row;
      }
      Thread.onSpinWait();
    }
    return row(serial, memory, at, true);
  }

  private static Row row(int serial, ByteBuffer memory, int at, boolean torn) {
    return new Row(
        serial,
        memory.getShort(at + Schema.ROW_POINT) & 0xFFFF,
        memory.get(at + Schema.ROW_CATEGORY) & 0xFF,
        memory.get(at + Schema.ROW_SIZE_CLASS) & 0xFF,
        memory.getInt(at + Schema.ROW_CONTEXT),
        memory.get(at + Schema.ROW_FLAGS),
        memory.getLong(at + Schema.ROW_ANCHOR),
        memory.getLong(at + Schema.ROW_COUNT),
        memory.getLong(at + Schema.ROW_BYTES),
        memory.getLong(at + Schema.ROW_ASKED),
        memory.getLong(at + Schema.ROW_ERRORS),
        memory.getLong(at + Schema.ROW_TIMED),
        memory.getLong(at + Schema.ROW_TIMED_DUR),
        memory.getLong(at + Schema.ROW_MIN),
        memory.getLong(at + Schema.ROW_MAX),
        memory.getLong(at + Schema.ROW_LAST_END),
        memory.getLong(at + Schema.ROW_WEIGHT),
        memory.getDouble(at + Schema.ROW_SPREAD),
        memory.getLong(at + Schema.ROW_INSIDE),
        torn);
  }

  private void readDictionaries() throws IOException {
    entries.clear();
    try (Stream<Path> paths = Files.list(directory)) {
      paths
          .filter(p -> p.getFileName().toString().startsWith("dict-"))
          .forEach(path -> TraceFiles.entries(path, entries));
    }
  }
}
