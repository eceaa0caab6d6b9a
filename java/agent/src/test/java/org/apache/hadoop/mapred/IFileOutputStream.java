package org.apache.hadoop.mapred;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** In the shape of Hadoop's: it passes on what it is given, and in the end a checksum. */
public class IFileOutputStream extends FilterOutputStream {
  public IFileOutputStream(OutputStream out) {
    super(out);
  }

  @Override
  public void write(int b) throws IOException {
    if (b == '!') {
      throw new IOException("the checksum broke");
    }
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
  }

  public void finish() throws IOException {
    out.write(new byte[4]);
  }
}
