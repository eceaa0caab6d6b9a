package io.iostrata.posixfs;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;

/**
 * A file whose time of modification all nodes agree on once it is closed.
 *
 * <p>Where MooseFS 3 is mounted, its client takes the time of a file that it has written from its
 * own clock, and the master keeps that of its creation: other nodes see another second. YARN then
 * refuses the file, since it has changed since the job was submitted. A time that is set is one for
 * all.
 */
final class SettledOutputStream extends FilterOutputStream
    implements Syncable, StreamCapabilities, IOStatisticsSource {
  private final Path file;
  private boolean isClosed;

  /**
   * @param out of {@code RawLocalFileSystem}, which can do all that this one can
   */
  SettledOutputStream(OutputStream out, Path file) {
    super(out);
    this.file = file;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length); // the one above writes them singly
  }

  @Override
  public void close() throws IOException {
    if (isClosed) {
      return;
    }
    isClosed = true;
    super.close();
    try {
      Files.setLastModifiedTime(file, Files.getLastModifiedTime(file));
    } catch (FileSystemException unsettled) {
      // What was written is there. It was renamed or deleted while it was open, or is of another
      // user, who alone may set its time.
    }
  }

  @Override
  public void hflush() throws IOException {
    ((Syncable) out).hflush();
  }

  @Override
  public void hsync() throws IOException {
    ((Syncable) out).hsync();
  }

  @Override
  public boolean hasCapability(String capability) {
    return ((StreamCapabilities) out).hasCapability(capability);
  }

  @Override
  public IOStatistics getIOStatistics() {
    return IOStatisticsSupport.retrieveIOStatistics(out);
  }
}
