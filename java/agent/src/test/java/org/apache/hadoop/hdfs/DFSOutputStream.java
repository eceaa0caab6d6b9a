package org.apache.hadoop.hdfs;

import java.io.IOException;
import java.io.OutputStream;

/** In the shape of Hadoop's. */
public class DFSOutputStream extends OutputStream {
  protected final String src;

  public DFSOutputStream(String src) {
    this.src = src;
  }

  @Override
  public void write(int b) throws IOException {
    if (b == '!') {
      throw new IOException("the pipeline broke at " + src);
    }
  }

  @Override
  public void close() {}
}
