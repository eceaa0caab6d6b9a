package io.iostrata.tfs;

import io.iostrata.segment.ThreadLog;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.Abortable;
import org.apache.hadoop.fs.CanSetDropBehind;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;

/** A file that is written. */
final class TracedOutputStream extends OutputStream
    implements Abortable, CanSetDropBehind, IOStatisticsSource, StreamCapabilities, Syncable {
  private final FSDataOutputStream out;
  private final Target target;

  private TracedOutputStream(FSDataOutputStream out, Target target) {
    this.out = out;
    this.target = target;
  }

  /** {@code out} with all that it can do, and where it is: not at 0 where it appends. */
  static FSDataOutputStream around(
      FSDataOutputStream out, Target target, FileSystem.Statistics statistics) throws IOException {
    return new FSDataOutputStream(new TracedOutputStream(out, target), statistics, out.getPos());
  }

  /** As FSDataOutputStream has it: agents look through streams by this name. */
  public OutputStream getWrappedStream() {
    return out;
  }

  @Override
  public void write(int one) throws IOException {
    ThreadLog log = Tracer.enter(Point.WRITE, target, 1, position());
    try {
      out.write(one);
    } catch (Throwable e) {
      Tracer.failed(log, Point.WRITE, e);
      throw e;
    }
    Tracer.exit(log, Point.WRITE, 1);
  }

  @Override
  public void write(byte[] from, int at, int length) throws IOException {
    ThreadLog log = Tracer.enter(Point.WRITE, target, length, position());
    try {
      out.write(from, at, length);
    } catch (Throwable e) {
      Tracer.failed(log, Point.WRITE, e);
      throw e;
    }
    Tracer.exit(log, Point.WRITE, length);
  }

  /** Kept by FSDataOutputStream itself, which asks nobody. */
  private long position() {
    return out.getPos();
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void hflush() throws IOException {
    Tracer.run(Point.SYNC, target, out::hflush);
  }

  @Override
  public void hsync() throws IOException {
    Tracer.run(Point.SYNC, target, out::hsync);
  }

  @Override
  public void close() throws IOException {
    Tracer.run(Point.CLOSE, target, out::close);
  }

  @Override
  public AbortableResult abort() {
    return out.abort();
  }

  @Override
  public void setDropBehind(Boolean drop) throws IOException {
    out.setDropBehind(drop);
  }

  @Override
  public boolean hasCapability(String capability) {
    return out.hasCapability(capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return out.getIOStatistics();
  }

  @Override
  public String toString() {
    return "tfs:" + out;
  }
}
