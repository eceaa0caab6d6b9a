package org.apache.hadoop.hdfs.server.datanode;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.security.token.Token;

/** In the shape of Hadoop's; reads a file for the block. */
public class DataXceiver {
  private final File file;

  public DataXceiver(File file) {
    this.file = file;
  }

  public void readBlock(
      ExtendedBlock block,
      Token token,
      String client,
      long offset,
      long length,
      boolean checksum,
      CachingStrategy strategy)
      throws IOException {
    try (FileInputStream in = new FileInputStream(file)) {
      in.read(new byte[(int) length]);
    }
  }
}
