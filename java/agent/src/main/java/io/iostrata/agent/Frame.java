package io.iostrata.agent;

import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Where a method keeps {@code this}, its arguments and the fields that a point reads. */
final class Frame {
  private final boolean isStatic;
  private final Weaver.Fields fields;

  /** Descriptors of the arguments and, at 0, of what is returned. */
  private final String[] types;

  private final int[] slots;

  Frame(int access, String descriptor, Weaver.Fields fields) {
    isStatic = (access & Opcodes.ACC_STATIC) != 0;
    this.fields = fields;
    types = new String[count(descriptor) + 1];
    slots = new int[types.length];
    int at = 1;
    int slot = isStatic ? 0 : 1;
    for (int i = 1; i < types.length; i++) {
      int end = end(descriptor, at);
      types[i] = descriptor.substring(at, end);
      slots[i] = slot;
      slot += isWide(types[i]) ? 2 : 1;
      at = end;
    }
    types[0] = descriptor.substring(at + 1);
  }

  private static int count(String descriptor) {
    int count = 0;
    for (int at = 1; descriptor.charAt(at) != ')'; at = end(descriptor, at)) {
      count++;
    }
    return count;
  }

  private static int end(String descriptor, int at) {
    while (descriptor.charAt(at) == '[') {
      at++;
    }
    return descriptor.charAt(at) == 'L' ? descriptor.indexOf(';', at) + 1 : at + 1;
  }

  static boolean isWide(String type) {
    return type.equals("J") || type.equals("D");
  }

  static boolean isReference(String type) {
    return type.charAt(0) == 'L' || type.charAt(0) == '[';
  }

  String returned() {
    return types[0];
  }

  /** Internal name of the class that has the method. */
  String owner() {
    return fields.owner;
  }

  /** Internal name of the class that is returned. */
  String returnedClass() {
    String type = types[0];
    return type.charAt(0) == 'L' ? type.substring(1, type.length() - 1) : type;
  }

  /** All that the point reads is here, and of a type that can be read so. */
  boolean canRead(Point point) {
    return isNumber(point.bytes)
        && isKnownAtEntry(point.asked)
        && isNumber(point.asked)
        && isKnownAtEntry(point.offset)
        && isNumber(point.offset)
        && isReferences(point.measure, true)
        && isReferences(point.target, false)
        && isReferences(point.context, false)
        && isReferences(point.effect, true)
        && isKnownAtEntry(point.through)
        && isReference(point.through);
  }

  private boolean isNumber(Value value) {
    if (value == null || value.kind == Value.CONSTANT || value.isInside()) {
      return true;
    }
    if (value.kind == Value.COLLECTED) {
      return !isStatic && CollectedBytes.isKnown(fields);
    }
    String type = type(value);
    return type != null && (isReference(type) || "IJSBC".contains(type));
  }

  private static boolean isKnownAtEntry(Value value) {
    return value == null || !value.atExit() || value.kind == Value.FIELD;
  }

  /**
   * @param atExit the first value may be what is returned
   */
  private boolean isReferences(Extraction extraction, boolean atExit) {
    return extraction == null
        || ((atExit || isKnownAtEntry(extraction.first))
            && isKnownAtEntry(extraction.second)
            && isReference(extraction.first)
            && isReference(extraction.second));
  }

  private boolean isReference(Value value) {
    if (value == null) {
      return true;
    }
    String type = type(value);
    return type != null && isReference(type);
  }

  /** Null when the method or class has no such value. */
  private String type(Value value) {
    switch (value.kind) {
      case Value.RETURNED:
        return types[0];
      case Value.RETURNED_BYTE:
        return types[0].equals("I") ? "I" : null;
      case Value.ARGUMENT:
        return value.number < types.length ? types[value.number] : null;
      case Value.FIELD:
      case Value.DELTA:
        return isStatic ? null : fields.descriptor(value.field);
      case Value.THIS:
        return isStatic ? null : "L" + fields.owner + ";";
      default:
        return null;
    }
  }

  /** Pushes a reference; null when there is none to push. */
  void reference(MethodVisitor code, Value value) {
    if (value == null) {
      code.visitInsn(Opcodes.ACONST_NULL);
    } else {
      load(code, value);
    }
  }

  /** Pushes a long: a number, or the size of an array, buffer or string. */
  void number(MethodVisitor code, Value value, long absent) {
    if (value == null) {
      code.visitLdcInsn(absent);
    } else if (value.kind == Value.CONSTANT) {
      code.visitLdcInsn((long) value.number);
    } else {
      load(code, value);
      widen(code, type(value));
    }
  }

  /** The point is on the stack: pushes the fields and asks {@link Hooks#collected}. */
  void collected(MethodVisitor code) {
    CollectedBytes.push(code, fields);
  }

  /** Turns what is on top of the stack into a long. */
  void widen(MethodVisitor code, String type) {
    if (isReference(type)) {
      code.visitMethodInsn(
          Opcodes.INVOKESTATIC, MethodWeaver.HOOKS, "size", "(Ljava/lang/Object;)J", false);
    } else if (!type.equals("J")) {
      code.visitInsn(Opcodes.I2L);
    }
  }

  private void load(MethodVisitor code, Value value) {
    if (value.kind == Value.ARGUMENT) {
      String type = types[value.number];
      int load = isReference(type) ? Opcodes.ALOAD : isWide(type) ? Opcodes.LLOAD : Opcodes.ILOAD;
      code.visitVarInsn(load, slots[value.number]);
      return;
    }
    code.visitVarInsn(Opcodes.ALOAD, 0);
    if (value.kind == Value.FIELD || value.kind == Value.DELTA) {
      String type = fields.descriptor(value.field);
      code.visitFieldInsn(Opcodes.GETFIELD, fields.owner, value.field, type);
    }
  }
}
