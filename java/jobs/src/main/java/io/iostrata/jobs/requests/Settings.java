package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * What was asked for, of words {@code name=value}: all must be there, and none else. Ranges are
 * checked by the command line (parameters.py, check.py of this workload).
 */
final class Settings {
  final String folder; // in HDFS
  final long seed;
  final double rate; // requests per second
  final double duration; // s
  final double warmup; // s
  final String arrivals;
  final double sigma;
  final double interval; // s
  final double[] phases; // share, mean, mean
  final String gaps; // a local file, or ""
  final double session; // mean number of requests
  final double think; // mean s
  final boolean shared; // one client of HDFS for all sessions
  final Mix mix;
  final int files;
  final double zipf;
  final int depth;
  final int fanout;
  final int fileSize; // mean bytes
  final int readSize; // mean bytes
  final int writeSize; // mean bytes
  final double spread; // of sizes: standard deviation of their logarithm
  final int threads;
  final long spin; // ns
  final int limit; // requests that may wait
  final double trial; // s
  final double most; // requests per second
  final double slowest; // s

  private final Map<String, String> words = new HashMap<>();

  Settings(Iterable<String> given) throws IOException {
    for (String word : given) {
      int equals = word.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(word + ": no name=value");
      }
      words.put(word.substring(0, equals), word.substring(equals + 1));
    }
    folder = text("folder");
    seed = Long.parseLong(text("seed"));
    arrivals = text("arrivals");
    gaps = text("gaps");
    session = real("session");
    double base = real("base");
    // the recorded gaps are between sessions
    boolean recorded = arrivals.equals("recorded");
    rate = real("alpha") * (recorded ? RecordedGaps.rate(RecordedGaps.read(gaps)) * session : base);
    duration = real("duration");
    warmup = real("warmup");
    sigma = real("sigma");
    interval = real("interval");
    phases = reals("phases", 3);
    think = real("think");
    shared = text("client").equals("shared");
    mix = new Mix(reals("mix", Operation.values().length));
    files = whole("files");
    zipf = real("zipf");
    depth = whole("depth");
    fanout = whole("fanout");
    fileSize = whole("file_size");
    readSize = whole("read_size");
    writeSize = whole("write_size");
    spread = real("spread");
    threads = whole("threads");
    spin = whole("spin") * 1000L;
    limit = whole("limit");
    trial = real("trial");
    most = real("most");
    slowest = real("slowest");
    if (!words.isEmpty()) {
      throw new IllegalArgumentException("no setting " + words.keySet().iterator().next());
    }
  }

  private String text(String name) {
    String found = words.remove(name);
    if (found == null) {
      throw new IllegalArgumentException(name + "=… is missing");
    }
    return found;
  }

  private double real(String name) {
    return number(name, text(name));
  }

  private int whole(String name) {
    return (int) real(name);
  }

  private double[] reals(String name, int count) {
    String[] parts = text(name).split(",");
    if (parts.length != count) {
      throw new IllegalArgumentException(name + " has not " + count + " numbers");
    }
    double[] found = new double[count];
    for (int i = 0; i < count; i++) {
      found[i] = number(name, parts[i]);
    }
    return found;
  }

  private static double number(String name, String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + "=" + text + " is no number", e);
    }
  }
}
