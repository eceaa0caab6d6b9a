package io.iostrata.jobs.swim;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.DataInputBuffer;
import org.apache.hadoop.io.Writable;

/**
 * A value of bytes and nothing else. Their count is not among them, as it is in BytesWritable: it
 * is known from the record (IFile), so that Map output bytes are those that were asked for.
 */
public final class Chunk implements Writable {
  private byte[] bytes = {};
  private int length;

  /** Takes the bytes as they are, without a copy. */
  void set(byte[] of, int count) {
    bytes = of;
    length = count;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.write(bytes, 0, length);
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    // ReduceContextImpl reads each record from a buffer that ends with it
    length = ((DataInputBuffer) in).available();
    if (bytes.length < length) {
      bytes = new byte[length];
    }
    in.readFully(bytes, 0, length);
  }
}
