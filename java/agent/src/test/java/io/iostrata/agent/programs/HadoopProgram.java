package io.iostrata.agent.programs;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.server.datanode.CachingStrategy;
import org.apache.hadoop.hdfs.server.datanode.DataXceiver;
import org.apache.hadoop.security.token.Token;

/** Calls classes in the shape of Hadoop's. */
public final class HadoopProgram {
  private HadoopProgram() {}

  public static void main(String[] arguments) throws IOException {
    File file = new File(arguments[0], "blk_1073741825");
    try (FileOutputStream out = new FileOutputStream(file)) {
      out.write(new byte[100]);
    }
    DataXceiver xceiver = new DataXceiver(file);
    xceiver.readBlock(
        new ExtendedBlock(), new Token(), "DFSClient_a", 512, 30, true, new CachingStrategy());
    xceiver.readBlock(new ExtendedBlock(), null, "DFSClient_b", 0, 40, true, null);
    try (FileInputStream in = new FileInputStream(file)) {
      System.out.println(in.read(new byte[50]));
    }
    counted(arguments[0]);
    DistributedFileSystem system = new DistributedFileSystem();
    System.out.println(system.getFileStatus(new Path("hdfs://host:1/a/b")) != null);
    // Here a point of ours fails.
    System.out.println(system.getFileStatus(new Path("")) != null);
    System.out.println(system.getFileStatus(new Path("/never/seen")) != null);
  }

  private static void counted(String directory) throws IOException {
    FSDataOutputStream remote = new FSDataOutputStream(new DFSOutputStream("/out/part-0"));
    for (int i = 0; i < 10_000; i++) {
      remote.write('x');
    }
    remote.write(new byte[345]);
    try {
      remote.write('!');
    } catch (IOException e) {
      System.out.println(e.getMessage());
    }
    try (FileOutputStream out = new FileOutputStream(new File(directory, "spill0.out"))) {
      FSDataOutputStream local = new FSDataOutputStream(out);
      local.write('x');
      local.write(new byte[20]);
    }
  }
}
