package org.apache.hadoop.hdfs.protocol;

/** In the shape of Hadoop's. */
public class ExtendedBlock {
  public String getBlockPoolId() {
    return "BP-1";
  }

  public long getBlockId() {
    return 1073741825L;
  }

  public long getGenerationStamp() {
    return 1001;
  }
}
