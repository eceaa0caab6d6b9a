package io.iostrata.jobs.tfidf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.io.WritableUtils;

/** How often a term comes in requests of a class. */
final class Occurrences implements Writable {
  int label; // ordinal of the class
  long count;

  void set(int label, long count) {
    this.label = label;
    this.count = count;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeByte(label);
    WritableUtils.writeVLong(out, count);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    label = in.readByte();
    count = WritableUtils.readVLong(in);
  }

  /** Counts of all, added up for each class, by ordinal. */
  static long[] sums(Iterable<Occurrences> all) {
    long[] sums = new long[RequestClass.COUNT];
    for (Occurrences one : all) {
      sums[one.label] += one.count;
    }
    return sums;
  }
}
