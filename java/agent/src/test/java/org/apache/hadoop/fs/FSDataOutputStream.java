package org.apache.hadoop.fs;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** In the shape of Hadoop's. */
public class FSDataOutputStream extends OutputStream {
  private final PositionCache cache;

  public FSDataOutputStream(OutputStream out) {
    cache = new PositionCache(out);
  }

  @Override
  public void write(int b) throws IOException {
    cache.write(b);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    cache.write(bytes, offset, length);
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
