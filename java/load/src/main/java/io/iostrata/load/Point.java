package io.iostrata.load;

/** What a sample is of: the dimensions of a profile that a file system of Hadoop has. */
final class Point {
  final boolean reads;

  /** {@code sequential}, or {@code X-Y}: X % of the requests go to Y % of the data. */
  final String access;

  /** Bytes that each client reads or writes. */
  final long size;

  /** Bytes. */
  final int request;

  /** Of a file that is written; 0: as many as its file system makes. */
  final int copies;

  Point(boolean reads, String access, long size, int request, int copies) {
    this.reads = reads;
    this.access = access;
    this.size = size;
    this.request = (int) Math.min(request, size);
    this.copies = copies;
  }

  boolean isSequential() {
    return access.equals("sequential");
  }
}
