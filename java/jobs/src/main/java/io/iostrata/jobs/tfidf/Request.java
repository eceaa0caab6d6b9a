package io.iostrata.jobs.tfidf;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;

/**
 * One record: {@code Start - Id: n}, {@code class: X}, the request, {@code End - Id: n}. What is
 * classified is the request alone.
 */
final class Request {
  static final String START = "Start - Id: ";
  static final String END = "End - Id: ";
  private static final String CLASS = "class: ";

  final long id;
  final RequestClass label;
  final int from; // of the request in the record, bytes
  final int to;

  /** Throws IOException for a record that has not this form. */
  Request(Text record) throws IOException {
    int second = record.find("\n") + 1;
    from = record.find("\n", second) + 1;
    String number;
    try {
      number = line(record, START, 0, second);
      id = Long.parseLong(number);
      label = RequestClass.labelled(line(record, CLASS, second, from));
    } catch (IllegalArgumentException e) {
      throw new IOException("not the form of a request: " + e.getMessage(), e);
    }
    to = record.getLength() - END.length() - number.length() - 1;
  }

  private static String line(Text record, String prefix, int from, int to) {
    int length = Math.max(0, to - from - 1);
    String line = new String(record.getBytes(), from, length, StandardCharsets.UTF_8);
    if (!line.startsWith(prefix)) {
      throw new IllegalArgumentException("'" + line + "' where '" + prefix + "' was expected");
    }
    return line.substring(prefix.length());
  }
}
