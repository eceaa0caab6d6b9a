package org.apache.hadoop.io.compress;

import java.io.IOException;
import java.io.OutputStream;

/** In the shape of Hadoop's. */
public abstract class CompressionOutputStream extends OutputStream {
  protected final OutputStream out;

  protected CompressionOutputStream(OutputStream out) {
    this.out = out;
  }

  public abstract void finish() throws IOException;
}
