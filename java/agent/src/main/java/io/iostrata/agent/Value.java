package io.iostrata.agent;

/**
 * Where a value comes from: {@code ret}, {@code byte}, {@code argN}, {@code this.FIELD}, {@code
 * of(OP)}, the bytes of the calls inside that have this operation and the same layer, {@code
 * delta(this.FIELD)}, by how much a field has grown, or {@code collected(this)}, see {@link
 * CollectedBytes}.
 */
final class Value {
  static final int CONSTANT = 0;
  static final int RETURNED = 1;

  /** 1, or 0 when the method returned -1. */
  static final int RETURNED_BYTE = 2;

  static final int ARGUMENT = 3;
  static final int FIELD = 4;
  static final int THIS = 5;
  static final int INSIDE = 6;

  /** The field at the exit less the field at the entry. */
  static final int DELTA = 7;

  static final int COLLECTED = 8;

  final int kind;

  /** The constant, or the position of the argument from 1. */
  final int number;

  /** Name of the field or operation; null for other kinds. */
  final String field;

  private Value(int kind, int number, String field) {
    this.kind = kind;
    this.number = number;
    this.field = field;
  }

  /** Null for an empty text. */
  static Value parse(String text) {
    if (text.isEmpty()) {
      return null;
    }
    if (text.equals("ret")) {
      return new Value(RETURNED, 0, null);
    }
    if (text.equals("byte")) {
      return new Value(RETURNED_BYTE, 0, null);
    }
    if (text.equals("this")) {
      return new Value(THIS, 0, null);
    }
    if (text.startsWith("of(")) {
      return new Value(INSIDE, 0, text.substring(3, text.length() - 1));
    }
    if (text.startsWith("delta(this.")) {
      return new Value(DELTA, 0, text.substring(11, text.length() - 1));
    }
    if (text.equals("collected(this)")) {
      return new Value(COLLECTED, 0, null);
    }
    if (text.startsWith("this.")) {
      return new Value(FIELD, 0, text.substring(5));
    }
    if (text.startsWith("arg")) {
      return new Value(ARGUMENT, Integer.parseInt(text.substring(3)), null);
    }
    return new Value(CONSTANT, Integer.parseInt(text), null);
  }

  /** False for {@code NAME(value)}: an extractor's. */
  static boolean isNumber(String text) {
    return text.indexOf('(') < 0
        || text.startsWith("of(")
        || text.startsWith("delta(")
        || text.equals("collected(this)");
  }

  /** Woven code need not look: the hooks know it. */
  boolean isInside() {
    return kind == INSIDE;
  }

  /** Known only when the method has returned. */
  boolean atExit() {
    return kind == RETURNED
        || kind == RETURNED_BYTE
        || kind == FIELD
        || kind == DELTA
        || kind == COLLECTED;
  }
}
