package org.apache.hadoop.fs;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** In the shape of Hadoop's. */
public class FSDataOutputStream {
  private final PositionCache cache;

  public FSDataOutputStream(OutputStream out) {
    cache = new PositionCache(out);
  }

  public void write(int b) throws IOException {
    cache.write(b);
  }

  public void write(byte[] bytes) throws IOException {
    cache.write(bytes, 0, bytes.length);
  }

  private static class PositionCache extends FilterOutputStream {
    PositionCache(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      out.write(bytes, offset, length);
    }
  }
}
