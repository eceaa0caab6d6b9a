package io.iostrata.tfs;

import io.iostrata.segment.ThreadLog;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.CanSetDropBehind;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HasFileDescriptor;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/**
 * A file that is read. Programs ask for what a stream can do by its interfaces: this class has
 * those that need nothing of the stream behind it, the others are added where that one has them.
 */
class TracedInputStream extends FSInputStream
    implements CanSetDropBehind,
        CanSetReadahead,
        CanUnbuffer,
        HasFileDescriptor,
        IOStatisticsSource,
        StreamCapabilities {
  final FSDataInputStream in;
  final Target target;
  private final FileSystem.Statistics statistics;

  /** Where the next read begins, as far as it was told; -1: unknown. */
  private long position;

  TracedInputStream(FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
    this.in = in;
    this.target = target;
    this.statistics = statistics;
  }

  /** {@code in} with all that it can do. */
  static FSDataInputStream around(
      FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
    return new FSDataInputStream(BufferReads.around(in, target, statistics));
  }

  @Override
  public int read() throws IOException {
    ThreadLog log = Tracer.enter(Point.READ, target, 1, position);
    int got;
    try {
      got = in.read();
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ, e);
      throw e;
    }
    Tracer.exit(log, Point.READ, got < 0 ? 0 : 1);
    moved(got < 0 ? 0 : 1);
    return got;
  }

  @Override
  public int read(byte[] into, int at, int length) throws IOException {
    ThreadLog log = Tracer.enter(Point.READ, target, length, position);
    int got;
    try {
      got = in.read(into, at, length);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ, e);
      throw e;
    }
    Tracer.exit(log, Point.READ, got);
    moved(got);
    return got;
  }

  @Override
  public int read(long from, byte[] into, int at, int length) throws IOException {
    ThreadLog log = Tracer.enter(Point.READ_AT, target, length, from);
    int got;
    try {
      got = in.read(from, into, at, length);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ_AT, e);
      throw e;
    }
    Tracer.exit(log, Point.READ_AT, got);
    read(got);
    return got;
  }

  @Override
  public void readFully(long from, byte[] into, int at, int length) throws IOException {
    ThreadLog log = Tracer.enter(Point.READ_AT, target, length, from);
    try {
      in.readFully(from, into, at, length);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ_AT, e);
      throw e;
    }
    Tracer.exit(log, Point.READ_AT, length);
    read(length);
  }

  @Override
  public void readFully(long from, byte[] into) throws IOException {
    readFully(from, into, 0, into.length);
  }

  /** Bytes are those asked for: what is read may come later, in other threads. */
  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    long bytes = 0;
    for (FileRange range : ranges) {
      bytes += range.getLength();
    }
    ThreadLog log = Tracer.enter(Point.READ_VECTORED, target, bytes, -1);
    try {
      in.readVectored(ranges, allocate);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ_VECTORED, e);
      throw e;
    }
    Tracer.exit(log, Point.READ_VECTORED, bytes);
    read(bytes);
  }

  /** So many bytes have been read from where the stream was. */
  final void moved(long bytes) {
    if (bytes > 0 && position >= 0) {
      position += bytes;
    }
    read(bytes);
  }

  final void read(long bytes) {
    if (statistics != null && bytes > 0) {
      statistics.incrementBytesRead(bytes);
    }
  }

  final long position() {
    return position;
  }

  @Override
  public void seek(long to) throws IOException {
    in.seek(to);
    position = to;
  }

  @Override
  public long getPos() throws IOException {
    return in.getPos();
  }

  @Override
  public boolean seekToNewSource(long to) throws IOException {
    boolean found = in.seekToNewSource(to);
    position = found ? to : position;
    return found;
  }

  @Override
  public long skip(long bytes) throws IOException {
    long skipped = in.skip(bytes);
    position = position < 0 ? position : position + skipped;
    return skipped;
  }

  @Override
  public int available() throws IOException {
    return in.available();
  }

  @Override
  public void mark(int limit) {
    in.mark(limit);
  }

  @Override
  public void reset() throws IOException {
    in.reset();
    position = -1;
  }

  @Override
  public boolean markSupported() {
    return in.markSupported();
  }

  @Override
  public void close() throws IOException {
    Tracer.run(Point.CLOSE, target, in::close);
  }

  @Override
  public int minSeekForVectorReads() {
    return in.minSeekForVectorReads();
  }

  @Override
  public int maxReadSizeForVectorReads() {
    return in.maxReadSizeForVectorReads();
  }

  @Override
  public FileDescriptor getFileDescriptor() throws IOException {
    return in.getFileDescriptor();
  }

  @Override
  public void setReadahead(Long readahead) throws IOException {
    in.setReadahead(readahead);
  }

  @Override
  public void setDropBehind(Boolean drop) throws IOException {
    in.setDropBehind(drop);
  }

  @Override
  public void unbuffer() {
    in.unbuffer();
  }

  @Override
  public boolean hasCapability(String capability) {
    return in.hasCapability(capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return in.getIOStatistics();
  }

  @Override
  public String toString() {
    return "tfs:" + in;
  }
}
