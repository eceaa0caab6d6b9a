package io.iostrata.agent;

import java.nio.IntBuffer;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * {@code collected(this)}: bytes of key and value that MapTask.MapOutputBuffer#collect has just put
 * into its ring. Woven code reads the fields: one record is no time for reflection.
 *
 * <pre>
 *   kvmeta   … | the record: value, KEY START, partition, length | kvindex: free | …
 *   kvbuffer … | key | value | bufmark …                    (the value may wrap at bufvoid)
 * </pre>
 *
 * When there is no record in the ring, kvindex is where it was when the ring was emptied (kvend):
 * the record was larger than the ring and went straight to a spill of its own.
 */
final class CollectedBytes {
  /** What {@link Hooks#collected} takes after the point, in this order. */
  private static final String[] FIELDS = {"kvindex", "kvend", "kvmeta", "bufmark", "bufvoid"};

  private static final String[] TYPES = {"I", "I", "Ljava/nio/IntBuffer;", "I", "I"};

  // Of one record's entry in kvmeta, in ints.
  private static final int KEY_START = 1;
  private static final int ENTRY = 4;

  private CollectedBytes() {}

  /** The class has all fields. */
  static boolean isKnown(Weaver.Fields fields) {
    for (int i = 0; i < FIELDS.length; i++) {
      if (!TYPES[i].equals(fields.descriptor(FIELDS[i]))) {
        return false;
      }
    }
    return true;
  }

  /** The point is on the stack, and a long after this. */
  static void push(MethodVisitor code, Weaver.Fields fields) {
    StringBuilder descriptor = new StringBuilder("(I");
    for (int i = 0; i < FIELDS.length; i++) {
      code.visitVarInsn(Opcodes.ALOAD, 0);
      code.visitFieldInsn(Opcodes.GETFIELD, fields.owner, FIELDS[i], TYPES[i]);
      descriptor.append(TYPES[i]);
    }
    String hook = descriptor.append(")J").toString();
    code.visitMethodInsn(Opcodes.INVOKESTATIC, MethodWeaver.HOOKS, "collected", hook, false);
  }

  static long bytes(int free, int emptied, IntBuffer meta, int recordEnd, int ringEnd) {
    if (free == emptied) {
      return 0;
    }
    int record = free + ENTRY; // meta.capacity() is a multiple of it
    int start = meta.get((record == meta.capacity() ? 0 : record) + KEY_START);
    return start <= recordEnd ? recordEnd - start : ringEnd - start + recordEnd;
  }
}
