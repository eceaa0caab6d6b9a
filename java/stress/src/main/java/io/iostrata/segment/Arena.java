package io.iostrata.segment;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Segments in direct memory for states of tests: thousands live at a time, so they are cut from one
 * buffer in turn.
 */
final class Arena {
  private static final int BYTES = 1 << 27;
  private static final int STEP = 4096;
  private static final ByteBuffer MEMORY = ByteBuffer.allocateDirect(BYTES);
  private static final AtomicInteger NEXT = new AtomicInteger();

  private Arena() {}

  /** An active segment of one row. */
  static Segment segment(int ringSlots) {
    int size = Segment.size(ringSlots, 1);
    int at = (NEXT.getAndIncrement() & BYTES / STEP - 1) * STEP;
    ByteBuffer memory = MEMORY.slice(at, size).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < size; i += 8) {
      memory.putLong(i, 0);
    }
    // A direct buffer is a MappedByteBuffer in every JDK: what production writes to.
    Segment segment = new Segment((MappedByteBuffer) memory, 1, 1, ringSlots, 1);
    segment.begin(1, 0, 0);
    return segment;
  }

  /** The reader twin's view of a slot: its number if all fields are that, else -1. */
  static long slot(Segment segment, long number) {
    int at = segment.ringStart + (int) (number & segment.mask) * Schema.SLOT_SIZE;
    MappedByteBuffer memory = segment.memory;
    long first = memory.getLong(at);
    for (int field = 8; field < Schema.SLOT_SIZE; field += 8) {
      if (memory.getLong(at + field) != first) {
        return -1;
      }
    }
    return first;
  }

  static void append(Segment segment, long number) {
    segment.append(number, number, number, number, number, number, number, number);
  }
}
