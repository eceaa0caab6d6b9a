import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.BlockReportOptions;
import org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.io.ElasticByteBufferPool;
import org.apache.hadoop.ipc.Client;

/** Calls each traced method of the HDFS client, on files below the path given. */
public final class EveryHdfsCall {
  private static final int SIZE = 100_000;
  private static final int LARGE = 20 << 20; // DataNodes look after their page cache each 8 MB
  private static final int MORE = 1_000;

  private EveryHdfsCall() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    DistributedFileSystem fs = (DistributedFileSystem) FileSystem.get(conf);
    Path folder = new Path(args[0]);
    fs.mkdirs(folder);
    Path file = new Path(folder, "file");
    writes(fs, file);
    creates(fs, folder);
    reads(fs, file);
    names(fs, folder);
    fs.open(fs.getPathHandle(fs.getFileStatus(file), Options.HandleOpt.exact())).close();
    fs.delete(file, false);
    reports(fs, conf);
    fs.close();
    // Hadoop numbers the calls of a process from 0 on, so the next number is how many there were.
    System.err.println("RPC calls: " + Client.nextCallId());
  }

  private static void writes(DistributedFileSystem fs, Path file) throws IOException {
    try (FSDataOutputStream out = fs.create(file)) {
      out.write(1);
      out.write(new byte[SIZE - 1]);
      out.hsync();
    }
    awaitReplicas(fs, file);
    try (FSDataOutputStream out = fs.append(file)) {
      out.write(new byte[MORE]);
    }
    try (FSDataOutputStream out = fs.create(new Path(file.getParent(), "large"))) {
      out.write(new byte[LARGE]);
    }
  }

  /** A file is closed once one DataNode has reported its block; others may report later. */
  private static void awaitReplicas(DistributedFileSystem fs, Path file) throws IOException {
    ClientProtocol namenode = fs.getClient().getNamenode();
    String name = file.toUri().getPath();
    int replicas = fs.getDataNodeStats().length;
    while (namenode.getBlockLocations(name, 0, SIZE).get(0).getLocations().length < replicas) {
      Thread.onSpinWait();
    }
  }

  private static void creates(DistributedFileSystem fs, Path folder) throws IOException {
    EnumSet<CreateFlag> create = EnumSet.of(CreateFlag.CREATE, CreateFlag.SYNC_BLOCK);
    Path other = new Path(folder, "other");
    fs.create(other, null, create, 4096, (short) 1, 1 << 20, null, null).close();
    FsPermission open = FsPermission.getFileDefault();
    InetSocketAddress[] anywhere = {};
    Path favored = new Path(folder, "favored");
    fs.create(favored, open, true, 4096, (short) 1, 1 << 20, null, anywhere).close();
  }

  private static void names(DistributedFileSystem fs, Path folder) throws IOException {
    Path renamed = new Path(folder, "renamed");
    fs.rename(new Path(folder, "other"), renamed);
    fs.rename(renamed, new Path(folder, "favored"), Options.Rename.OVERWRITE);
    fs.listStatus(folder);
    fs.listLocatedStatus(folder);
  }

  private static void reads(FileSystem fs, Path file) throws IOException {
    try (FSDataInputStream in = fs.open(file)) {
      in.read();
      in.read(new byte[1000], 0, 1000);
      in.read(ByteBuffer.allocate(2000));
      in.read(50_000, new byte[3000], 0, 3000);
      in.read(60_000, ByteBuffer.allocate(4000));
      in.readFully(70_000, ByteBuffer.allocate(5000));
      ElasticByteBufferPool pool = new ElasticByteBufferPool();
      in.releaseBuffer(in.read(pool, 600, EnumSet.noneOf(ReadOption.class)));
    }
  }

  /** Has every DataNode report its blocks, and returns when the NameNode has the reports. */
  private static void reports(DistributedFileSystem fs, Configuration conf) throws Exception {
    long asked = System.currentTimeMillis();
    BlockReportOptions full = new BlockReportOptions.Factory().setIncremental(false).build();
    for (DatanodeInfo node : fs.getDataNodeStats()) {
      ClientDatanodeProtocol proxy =
          DFSUtilClient.createClientDatanodeProtocolProxy(node, conf, 10_000, false);
      proxy.triggerBlockReport(full);
    }
    for (DatanodeInfo node : fs.getDataNodeStats()) {
      while (reported(fs, node) < asked) {
        Thread.sleep(50);
      }
    }
  }

  private static long reported(DistributedFileSystem fs, DatanodeInfo node) throws IOException {
    for (DatanodeInfo now : fs.getDataNodeStats()) {
      if (now.getDatanodeUuid().equals(node.getDatanodeUuid())) {
        return now.getLastBlockReportTime();
      }
    }
    throw new IOException(node + " is gone");
  }
}
