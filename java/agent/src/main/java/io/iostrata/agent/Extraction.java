package io.iostrata.agent;

/** {@code NAME(value, value)}: which extractor looks at which values. */
final class Extraction {
  final String name;
  final Value first;

  /** Null when the extractor takes one value. */
  final Value second;

  private Extraction(String name, Value first, Value second) {
    this.name = name;
    this.first = first;
    this.second = second;
  }

  /** Null for an empty text. */
  static Extraction parse(String text) {
    if (text.isEmpty()) {
      return null;
    }
    int open = text.indexOf('(');
    String name = text.substring(0, open);
    String values = text.substring(open + 1, text.length() - 1);
    int comma = values.indexOf(',');
    if (comma < 0) {
      return new Extraction(name, Value.parse(values), null);
    }
    Value second = Value.parse(values.substring(comma + 1).trim());
    return new Extraction(name, Value.parse(values.substring(0, comma)), second);
  }
}
