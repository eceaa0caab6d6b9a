import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;

/** Settings of a whole HBase in one JVM, whose files are in a folder. */
class HBaseSettings {
  private static final int TIMEOUT_MS = 120_000;

  static Configuration of(File folder) {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.rootdir", new File(folder, "hbase").toURI().toString());
    conf.set("hbase.tmp.dir", new File(folder, "tmp").getPath());
    conf.set("hbase.zookeeper.quorum", "127.0.0.1");
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    for (String of : new String[] {"master", "regionserver"}) {
      conf.setInt("hbase." + of + ".port", 0);
      conf.setInt("hbase." + of + ".info.port", -1);
      conf.set("hbase." + of + ".hostname", "localhost");
    }
    conf.setInt("hbase.master.start.timeout.localHBaseCluster", TIMEOUT_MS);
    // who waits for whom, in milliseconds
    conf.setInt("hbase.master.wait.on.regionservers.interval", 20);
    conf.setInt("hbase.master.wait.on.regionservers.maxtostart", 1);
    conf.setInt("hbase.regionserver.msginterval", 100);
    conf.setInt("hbase.client.pause", 20);
    conf.setInt("hbase.server.thread.wakefrequency", 500);
    return conf;
  }
}
