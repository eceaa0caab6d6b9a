package io.iostrata.tfs;

import io.iostrata.segment.ThreadLog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HasEnhancedByteBufferAccess;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.io.ByteBufferPool;

/** Streams that read into buffers, where the stream behind them does. */
final class BufferReads {
  private BufferReads() {}

  static TracedInputStream around(
      FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
    InputStream behind = in.getWrappedStream();
    boolean reads = behind instanceof ByteBufferReadable;
    boolean readsAt = behind instanceof ByteBufferPositionedReadable;
    if (reads && readsAt && behind instanceof HasEnhancedByteBufferAccess) {
      return new OfHdfs(in, target, statistics);
    }
    if (reads && readsAt) {
      return new Both(in, target, statistics);
    }
    if (readsAt) {
      return new Positioned(in, target, statistics);
    }
    return reads
        ? new Sequential(in, target, statistics)
        : new TracedInputStream(in, target, statistics);
  }

  private static int read(TracedInputStream of, ByteBuffer into) throws IOException {
    ThreadLog log = Tracer.enter(Point.READ, of.target, into.remaining(), of.position());
    int got;
    try {
      got = of.in.read(into);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ, e);
      throw e;
    }
    Tracer.exit(log, Point.READ, got);
    of.moved(got);
    return got;
  }

  private static int readAt(TracedInputStream of, long from, ByteBuffer into) throws IOException {
    ThreadLog log = Tracer.enter(Point.READ_AT, of.target, into.remaining(), from);
    int got;
    try {
      got = of.in.read(from, into);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ_AT, e);
      throw e;
    }
    Tracer.exit(log, Point.READ_AT, got);
    of.read(got);
    return got;
  }

  private static void readFullyAt(TracedInputStream of, long from, ByteBuffer into)
      throws IOException {
    int bytes = into.remaining();
    ThreadLog log = Tracer.enter(Point.READ_AT, of.target, bytes, from);
    try {
      of.in.readFully(from, into);
    } catch (Throwable e) {
      Tracer.failed(log, Point.READ_AT, e);
      throw e;
    }
    Tracer.exit(log, Point.READ_AT, bytes);
    of.read(bytes);
  }

  private static final class Sequential extends TracedInputStream implements ByteBufferReadable {
    Sequential(FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
      super(in, target, statistics);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return BufferReads.read(this, into);
    }
  }

  private static final class Positioned extends TracedInputStream
      implements ByteBufferPositionedReadable {
    Positioned(FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
      super(in, target, statistics);
    }

    @Override
    public int read(long from, ByteBuffer into) throws IOException {
      return readAt(this, from, into);
    }

    @Override
    public void readFully(long from, ByteBuffer into) throws IOException {
      readFullyAt(this, from, into);
    }
  }

  private static class Both extends TracedInputStream
      implements ByteBufferReadable, ByteBufferPositionedReadable {
    Both(FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
      super(in, target, statistics);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return BufferReads.read(this, into);
    }

    @Override
    public int read(long from, ByteBuffer into) throws IOException {
      return readAt(this, from, into);
    }

    @Override
    public void readFully(long from, ByteBuffer into) throws IOException {
      readFullyAt(this, from, into);
    }
  }

  /** Reads without a copy, too. */
  private static final class OfHdfs extends Both implements HasEnhancedByteBufferAccess {
    OfHdfs(FSDataInputStream in, Target target, FileSystem.Statistics statistics) {
      super(in, target, statistics);
    }

    @Override
    public ByteBuffer read(ByteBufferPool pool, int most, EnumSet<ReadOption> options)
        throws IOException {
      ThreadLog log = Tracer.enter(Point.READ, target, most, position());
      ByteBuffer got;
      try {
        got = in.read(pool, most, options);
      } catch (Throwable e) {
        Tracer.failed(log, Point.READ, e);
        throw e;
      }
      int bytes = got == null ? 0 : got.remaining();
      Tracer.exit(log, Point.READ, bytes);
      moved(bytes);
      return got;
    }

    @Override
    public void releaseBuffer(ByteBuffer buffer) {
      in.releaseBuffer(buffer);
    }
  }
}
