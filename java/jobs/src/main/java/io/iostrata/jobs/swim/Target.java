package io.iostrata.jobs.swim;

import java.io.DataInput;
import java.io.DataOutput;
import org.apache.hadoop.io.WritableComparable;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.mapreduce.Partitioner;

/**
 * A key without bytes: where its record goes is known to the map alone, so sorting has nothing to
 * compare and a reduce has one key.
 */
public final class Target implements WritableComparable<Target> {
  private int reduce;

  void set(int to) {
    reduce = to;
  }

  @Override
  public void write(DataOutput out) {
    // no bytes
  }

  @Override
  public void readFields(DataInput in) {
    // no bytes
  }

  @Override
  public int compareTo(Target other) {
    return 0;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Target;
  }

  @Override
  public int hashCode() {
    return 0;
  }

  /** All are equal. */
  public static final class Order extends WritableComparator {
    public Order() {
      super(Target.class);
    }

    @Override
    public int compare(byte[] a, int fromA, int countA, byte[] b, int fromB, int countB) {
      return 0;
    }
  }

  /** Each goes where it says. */
  public static final class Partition extends Partitioner<Target, Chunk> {
    @Override
    public int getPartition(Target key, Chunk value, int reduces) {
      return key.reduce;
    }
  }
}
