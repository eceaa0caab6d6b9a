package io.iostrata.agent;

import java.nio.IntBuffer;

/**
 * {@code collected(buffer)}: bytes of key and value that MapTask.MapOutputBuffer#collect has just
 * put into its ring.
 *
 * <pre>
 *   kvmeta   … | the record: value, KEY START, partition, length | kvindex: free | …
 *   kvbuffer … | key | value | bufmark …                    (the value may wrap at bufvoid)
 * </pre>
 *
 * When there is no record in the ring, kvindex is where it was when the ring was emptied (kvend):
 * the record was larger than the ring and went straight to a spill of its own.
 */
final class CollectedBytes extends Extractor {
  // Of one record's entry in kvmeta, in ints.
  private static final int KEY_START = 1;
  private static final int ENTRY = 4;

  private static final FieldOf META = new FieldOf("kvmeta");
  private static final FieldOf FREE = new FieldOf("kvindex");
  private static final FieldOf EMPTIED = new FieldOf("kvend");
  private static final FieldOf RECORD_END = new FieldOf("bufmark");
  private static final FieldOf RING_END = new FieldOf("bufvoid");

  @Override
  long of(Probe probe, Object buffer, Object unused) throws Throwable {
    int free = FREE.intOf(buffer);
    if (free == EMPTIED.intOf(buffer)) {
      return 0;
    }
    IntBuffer meta = (IntBuffer) META.of(buffer);
    int start = meta.get((free + ENTRY) % meta.capacity() + KEY_START);
    int end = RECORD_END.intOf(buffer);
    return start <= end ? end - start : RING_END.intOf(buffer) - start + end;
  }
}
