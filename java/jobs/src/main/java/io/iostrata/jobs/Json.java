package io.iostrata.jobs;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Iterator;
import java.util.Map;

/**
 * Writes maps, lists, numbers and texts; fractions with six digits; numbers that are none become
 * null.
 */
public final class Json {
  private static final MathContext DIGITS = new MathContext(6);

  private Json() {}

  public static String text(Object value) {
    StringBuilder out = new StringBuilder();
    write(out, value);
    return out.toString();
  }

  private static void write(StringBuilder out, Object value) {
    if (value instanceof Map) {
      out.append('{');
      Iterator<? extends Map.Entry<?, ?>> entries = ((Map<?, ?>) value).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry<?, ?> entry = entries.next();
        quote(out, entry.getKey().toString());
        out.append(": ");
        write(out, entry.getValue());
        out.append(entries.hasNext() ? ", " : "");
      }
      out.append('}');
    } else if (value instanceof Iterable) {
      out.append('[');
      Iterator<?> values = ((Iterable<?>) value).iterator();
      while (values.hasNext()) {
        write(out, values.next());
        out.append(values.hasNext() ? ", " : "");
      }
      out.append(']');
    } else if (value instanceof Double) {
      out.append(number((Double) value));
    } else if (value instanceof Number || value instanceof Boolean || value == null) {
      out.append(value);
    } else {
      quote(out, value.toString());
    }
  }

  private static String number(double value) {
    if (!Double.isFinite(value)) {
      return "null";
    }
    return new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
  }

  private static void quote(StringBuilder out, String text) {
    out.append('"');
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\' || one < ' ') {
        out.append(String.format("\\u%04x", (int) one));
      } else {
        out.append(one);
      }
    }
    out.append('"');
  }
}
