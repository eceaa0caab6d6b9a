package io.iostrata.segment;

import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.MappedByteBuffer;

/**
 * One segment file: header, counter table, ring. Written by one thread at a time; SEGMENT.md has
 * the picture.
 *
 * <pre>
 * 0        64         128        192          2048              ringStart
 * | identity | producer | consumer | open spans | rows × 128 bytes| slots × 64 bytes |
 * </pre>
 */
final class Segment {
  private static final long SPAN_COUNTER_MASK = (1L << 40) - 1;

  final MappedByteBuffer memory;

  // Views for the path of each call: their accesses need no look at byte order and alignment.
  final LongBuffer longs;
  final IntBuffer ints;

  final int serial;
  final int ringSlots;
  final int tableRows;
  final int mask;
  final int ringStart;
  int epoch;

  /** Slots published; the copy in memory follows. */
  long head;

  /** Slots consumed, as last seen. */
  long tail;

  /** Counter rows in use. */
  int rows;

  /** No thread's any more. */
  boolean sealed;

  long gaps;
  long collapsed;

  /** Last span given out; goes on when the file is reused, so that no span is given out twice. */
  long span;

  Segment(MappedByteBuffer memory, long proc, int serial, int ringSlots, int tableRows) {
    this.memory = memory;
    memory.order(ByteOrder.LITTLE_ENDIAN);
    this.longs = memory.asLongBuffer();
    this.ints = memory.asIntBuffer();
    this.serial = serial;
    this.ringSlots = ringSlots;
    this.tableRows = tableRows;
    this.mask = ringSlots - 1;
    this.ringStart = size(0, tableRows);
    this.span = (long) serial << 40;
    MappedFile.preamble(memory, Schema.FILE_KIND_SEGMENT);
    memory.putLong(Schema.SEGMENT_PROC, proc);
    memory.putInt(Schema.SEGMENT_SERIAL, serial);
    memory.putInt(Schema.SEGMENT_RING_SLOTS, ringSlots);
    memory.putInt(Schema.SEGMENT_TABLE_ROWS, tableRows);
    memory.putInt(Schema.SEGMENT_OPEN_SLOTS, Schema.SEGMENT_OPEN_CAPACITY);
  }

  /** Bytes of a segment file. */
  static int size(int ringSlots, int tableRows) {
    return Schema.SEGMENT_HEADER + tableRows * Schema.ROW_SIZE + ringSlots * Schema.SLOT_SIZE;
  }

  int size() {
    return size(ringSlots, tableRows);
  }

  /** Gives the file to a thread; only of a new file, or of one that is {@link #drained}. */
  void begin(long tid, int threadName, int chain) {
    // Before all else: a reader that saw the new epoch beside the old `sealed` would take the new
    // life for a drained one.
    memory.putInt(Schema.SEGMENT_STATE, 0);
    Fence.release();
    for (int at = Schema.SEGMENT_HEADER, end = at + rows * Schema.ROW_SIZE; at < end; at += 8) {
      memory.putLong(at, 0);
    }
    sealed = false;
    rows = 0;
    gaps = 0;
    collapsed = 0;
    memory.putInt(Schema.SEGMENT_ROWS, 0);
    memory.putInt(Schema.SEGMENT_OPEN_DEPTH, 0);
    memory.putLong(Schema.SEGMENT_GAPS, 0);
    memory.putLong(Schema.SEGMENT_FOLDED, 0);
    memory.putLong(Schema.SEGMENT_TID, tid);
    memory.putInt(Schema.SEGMENT_THREAD_NAME, threadName);
    memory.putInt(Schema.SEGMENT_CHAIN, chain);
    Fence.release();
    memory.putInt(Schema.SEGMENT_EPOCH, ++epoch);
    Fence.release();
    memory.putInt(Schema.SEGMENT_STATE, Schema.STATE_ACTIVE);
  }

  void seal() {
    sealed = true;
    Fence.release();
    memory.putInt(Schema.SEGMENT_STATE, Schema.STATE_SEALED);
  }

  /** True when the collector needs nothing more from this sealed segment. */
  boolean drained() {
    boolean drained = memory.getInt(Schema.SEGMENT_DRAINED_EPOCH) == epoch;
    Fence.release();
    return drained;
  }

  /** Slots that can be written now; looks at the consumer's `tail`. */
  int room() {
    long seen = memory.getLong(Schema.SEGMENT_TAIL);
    // A tail that runs backwards or overtakes head is not believed.
    if (seen - tail > 0 && head - seen >= 0) {
      tail = seen;
    }
    Fence.release();
    return ringSlots - 1 - (int) (head - tail);
  }

  /** One slot is kept back: what is lost behind it is reported there. */
  boolean full() {
    return head - tail >= ringSlots - 1;
  }

  /**
   * Writes and publishes one slot; the caller has seen that there is room.
   *
   * @param what target | point << 32 | kind << 48 | flags << 56
   * @param result ret | asked << 32
   */
  void append(
      long start, long dur, long bytes, long offset, long what, long result, long span, long of) {
    LongBuffer longs = this.longs;
    int at = ringStart + ((int) head & mask) * Schema.SLOT_SIZE >> 3;
    longs.put(at + (Schema.SLOT_START >> 3), start);
    longs.put(at + (Schema.SLOT_DUR >> 3), dur);
    longs.put(at + (Schema.SLOT_BYTES >> 3), bytes);
    longs.put(at + (Schema.SLOT_OFFSET >> 3), offset);
    longs.put(at + (Schema.SLOT_TARGET >> 3), what);
    longs.put(at + (Schema.SLOT_RET >> 3), result);
    longs.put(at + (Schema.SLOT_SPAN >> 3), span);
    longs.put(at + (Schema.SLOT_PARENT >> 3), of);
    Fence.release();
    longs.put(Schema.SEGMENT_HEAD >> 3, ++head);
  }

  /**
   * Mirrors an open span at depth {@code d}, from 0; deeper than the header holds, only the depth.
   *
   * @param what target | point << 32 | flags << 48
   */
  void open(int d, long span, long start, long parent, long what) {
    if (d < Schema.SEGMENT_OPEN_CAPACITY) {
      LongBuffer longs = this.longs;
      int at = Schema.SEGMENT_OPEN + d * Schema.OPEN_SPAN_SIZE >> 3;
      longs.put(at + (Schema.OPEN_SPAN_SPAN >> 3), span);
      longs.put(at + (Schema.OPEN_SPAN_START >> 3), start);
      longs.put(at + (Schema.OPEN_SPAN_PARENT >> 3), parent);
      longs.put(at + (Schema.OPEN_SPAN_TARGET >> 3), what);
    }
    depth(d + 1);
  }

  void depth(int depth) {
    Fence.release();
    ints.put(Schema.SEGMENT_OPEN_DEPTH >> 2, depth);
  }

  /**
   * A new counter row, or -1. The last {@code keptBack} rows of the table are for collapsed rows.
   */
  int newRow(long key, long scope, int keptBack) {
    if (rows >= tableRows - keptBack) {
      return -1;
    }
    int at = Schema.SEGMENT_HEADER + rows * Schema.ROW_SIZE;
    memory.putInt(at + Schema.ROW_POINT, (int) key & ~0xFFFF | (int) key & Row.POINT_MASK);
    memory.putInt(at + Schema.ROW_CONTEXT, (int) (key >>> 32));
    memory.put(at + Schema.ROW_FLAGS, Row.flags(key));
    memory.putLong(at + Schema.ROW_ANCHOR, scope);
    Fence.release();
    memory.putInt(Schema.SEGMENT_ROWS, ++rows);
    return at;
  }

  /** No more span ids: half of them is a margin for what still begins before the next look. */
  boolean exhausted() {
    return (span & SPAN_COUNTER_MASK) > SPAN_COUNTER_MASK / 2;
  }

  void countGap() {
    memory.putLong(Schema.SEGMENT_GAPS, ++gaps);
  }

  void countFold() {
    memory.putLong(Schema.SEGMENT_FOLDED, ++collapsed);
  }
}
