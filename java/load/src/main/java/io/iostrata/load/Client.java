package io.iostrata.load;

import static org.apache.hadoop.fs.CommonConfigurationKeysPublic.IO_FILE_BUFFER_SIZE_DEFAULT;
import static org.apache.hadoop.fs.CommonConfigurationKeysPublic.IO_FILE_BUFFER_SIZE_KEY;

import java.io.IOException;
import java.util.Random;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** One client of a sample, with a file of its own. */
final class Client {
  private final FileSystem files;
  private final Path file;
  private final Point point;
  private final long most;
  private final byte[] buffer;

  long bytes;

  /** As {@link System#nanoTime} says. */
  long begin;

  long end;

  /** {@code most}: ns that it may take. */
  Client(FileSystem files, Path file, Point point, long most) {
    this.files = files;
    this.file = file;
    this.point = point;
    this.most = most;
    buffer = new byte[point.request];
    new Random(7).nextBytes(buffer); // nothing on the way can make zeros of it
  }

  Client run() throws IOException {
    begin = System.nanoTime();
    if (point.reads) {
      read();
    } else {
      write();
    }
    end = System.nanoTime();
    return this;
  }

  private boolean goesOn() {
    return bytes < point.size && System.nanoTime() - begin < most;
  }

  private int next() {
    return (int) Math.min(buffer.length, point.size - bytes);
  }

  private void read() throws IOException {
    try (FSDataInputStream in = files.open(file)) {
      Positions positions = point.isSequential() ? null : new Positions(point, file.hashCode());
      while (goesOn()) {
        int length = next();
        if (positions == null) {
          in.readFully(buffer, 0, length);
        } else {
          in.readFully(positions.next(), buffer, 0, length);
        }
        bytes += length;
      }
    }
  }

  /** Until all is on the storage. */
  private void write() throws IOException {
    try (FSDataOutputStream out = create()) {
      while (goesOn()) {
        int length = next();
        out.write(buffer, 0, length);
        bytes += length;
      }
      out.hsync();
    }
  }

  private FSDataOutputStream create() throws IOException {
    if (point.copies == 0) {
      return files.create(file, true);
    }
    int buffer = files.getConf().getInt(IO_FILE_BUFFER_SIZE_KEY, IO_FILE_BUFFER_SIZE_DEFAULT);
    return files.create(file, true, buffer, (short) point.copies, files.getDefaultBlockSize(file));
  }
}
