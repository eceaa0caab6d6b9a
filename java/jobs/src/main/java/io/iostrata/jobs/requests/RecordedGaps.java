package io.iostrata.jobs.requests;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;

/** Gaps that were recorded, in their order and then from the first again. */
final class RecordedGaps implements Arrivals {
  private final double[] gaps;
  private final double factor;
  private int next;

  /** All gaps are multiplied by one factor, which gives {@code rate}; at their own rate by 1. */
  RecordedGaps(double[] gaps, double rate) {
    this.gaps = gaps;
    factor = rate(gaps) / rate;
  }

  /** Arrivals per second. */
  static double rate(double[] gaps) {
    double sum = 0;
    for (double gap : gaps) {
      sum += gap;
    }
    return gaps.length / sum;
  }

  /** A gap in seconds on each line; throws IllegalArgumentException with the number of the line. */
  static double[] read(String file) throws IOException {
    List<String> lines = Files.readAllLines(Paths.get(file), StandardCharsets.UTF_8);
    double[] gaps = new double[lines.size()];
    for (int i = 0; i < gaps.length; i++) {
      gaps[i] = gap(lines.get(i), file + " line " + (i + 1));
    }
    if (!(rate(gaps) < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(file + ": no gap is longer than 0");
    }
    return gaps;
  }

  private static double gap(String line, String where) {
    double gap;
    try {
      gap = Double.parseDouble(line);
    } catch (NumberFormatException e) {
      gap = Double.NaN;
    }
    if (!(gap >= 0 && gap < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(where + ": '" + line + "' is no gap in seconds");
    }
    return gap;
  }

  @Override
  public double gap() {
    double gap = gaps[next] * factor;
    next = (next + 1) % gaps.length;
    return gap;
  }
}
