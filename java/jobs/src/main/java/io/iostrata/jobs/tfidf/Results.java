package io.iostrata.jobs.tfidf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Counters;

/** What the maps wrote: how many requests of each class were taken for which. */
final class Results {
  private final long[][] confusion = new long[RequestClass.COUNT][RequestClass.COUNT];
  private final BitSet seen = new BitSet();
  private int files;

  /** All files that the maps wrote into a folder. */
  static Results of(FileSystem files, Path folder) throws IOException {
    Results results = new Results();
    for (FileStatus file : files.globStatus(new Path(folder, "part-m-*"))) {
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(files.open(file.getPath()), StandardCharsets.UTF_8))) {
        results.files++;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          results.add(line);
        }
      }
    }
    return results;
  }

  int files() {
    return files;
  }

  /** Throws IOException for a request that was there before. */
  void add(String line) throws IOException {
    String[] parts = line.split("\t");
    int id = Integer.parseInt(parts[0]);
    if (seen.get(id)) {
      throw new IOException("request " + id + " was classified twice");
    }
    seen.set(id);
    RequestClass actual = RequestClass.labelled(parts[1]);
    confusion[actual.ordinal()][RequestClass.labelled(parts[2]).ordinal()]++;
  }

  /** Throws IOException unless each request that was asked for is there, with its class, once. */
  void assertAllOf(Population asked) throws IOException {
    if (seen.cardinality() != asked.requests || seen.length() != asked.requests) {
      throw new IOException(seen.cardinality() + " of " + asked.requests + " were classified");
    }
    long[] of = new long[RequestClass.COUNT];
    for (long id = 0; id < asked.requests; id++) {
      of[asked.classOf(id).ordinal()]++;
    }
    for (int label = 0; label < of.length; label++) {
      requireEqual(label, "requests", of[label], row(label));
    }
  }

  /** Throws IOException unless the maps counted what they wrote. */
  void assertCounted(Counters counters) throws IOException {
    for (int label = 0; label < confusion.length; label++) {
      String group = Classification.COUNTERS;
      long right = counters.findCounter(group, Classification.right(label)).getValue();
      long wrong = counters.findCounter(group, Classification.wrong(label)).getValue();
      requireEqual(label, "right", right, confusion[label][label]);
      requireEqual(label, "wrong", wrong, row(label) - confusion[label][label]);
    }
  }

  private static void requireEqual(int label, String what, long expected, long found)
      throws IOException {
    if (expected != found) {
      String name = RequestClass.at(label).label;
      throw new IOException(name + ": " + found + " " + what + ", " + expected + " expected");
    }
  }

  private long row(int label) {
    long sum = 0;
    for (long one : confusion[label]) {
      sum += one;
    }
    return sum;
  }

  /** By the labels of classes: a list of rows, one for each actual class. */
  Map<String, Object> asMap() {
    List<String> labels = new ArrayList<>();
    List<List<Long>> rows = new ArrayList<>();
    for (int actual = 0; actual < confusion.length; actual++) {
      labels.add(RequestClass.at(actual).label);
      List<Long> row = new ArrayList<>();
      for (long one : confusion[actual]) {
        row.add(one);
      }
      rows.add(row);
    }
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("classes", labels);
    said.put("confusion", rows);
    return said;
  }
}
