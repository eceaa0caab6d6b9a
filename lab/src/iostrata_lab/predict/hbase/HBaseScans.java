import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/**
 * HBaseScans FOLDER KEEPER fill ROWS: a whole HBase in this JVM, whose files are in FOLDER, and a
 * table of ROWS rows with keys of 8 bytes and values of 1 KB, in a single file; ZooKeeper's files are
 * in KEEPER, which is made anew.
 *
 * <p>HBaseScans FOLDER KEEPER scan CLIENTS ACCESS: so many clients at once each scan 1 MB at a time,
 * as many times as a quarter of the table takes, from rows that ACCESS chooses: with 90-10, 90 % of
 * the scans begin in the first 10 % of the table.
 */
public class HBaseScans {
  private static final TableName NAME = TableName.valueOf("scanned");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int VALUE = 1000;
  private static final int TOGETHER = 1000; // rows of a scan, and of a list of puts
  private static final int PART = 4;

  public static void main(String[] args) throws Exception {
    File folder = new File(args[0]);
    File own = new File(args[1]);
    FileUtil.fullyDelete(own);
    Configuration conf = HBaseSettings.of(folder);
    conf.setInt("hbase.regionserver.handler.count", 8);
    conf.setFloat("hfile.block.cache.size", 0.1f); // the table is much larger than what is kept
    MiniZooKeeperCluster keeper = new MiniZooKeeperCluster(conf);
    conf.setInt("hbase.zookeeper.property.clientPort", keeper.startup(own));
    LocalHBaseCluster cluster = new LocalHBaseCluster(conf, 1, 1);
    cluster.startup();
    Path rows = folder.toPath().resolve("rows");
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      if (args[2].equals("fill")) {
        fill(connection, Integer.parseInt(args[3]));
        Files.writeString(rows, args[3]);
      } else {
        int all = Integer.parseInt(Files.readString(rows));
        scan(connection, all, Integer.parseInt(args[3]), args[4]);
      }
    }
    cluster.shutdown();
    cluster.join();
    keeper.shutdown();
    System.out.flush();
    Runtime.getRuntime().exit(0); // threads of HBase would keep the JVM
  }

  private static void fill(Connection connection, int rows) throws Exception {
    Random random = new Random(1);
    try (Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setDurability(Durability.SKIP_WAL)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build());
      List<Put> puts = new ArrayList<>();
      for (int i = 0; i < rows; i++) {
        byte[] value = new byte[VALUE];
        random.nextBytes(value);
        puts.add(new Put(row(i)).addColumn(FAMILY, COLUMN, value));
        if (puts.size() == TOGETHER || i == rows - 1) {
          table.put(puts);
          puts.clear();
        }
      }
      admin.flush(NAME);
      admin.majorCompact(NAME);
      do {
        Thread.sleep(500); // until it has begun
      } while (admin.getCompactionState(NAME) != CompactionState.NONE);
    }
  }

  private static void scan(Connection connection, int rows, int clients, String access)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(clients);
    List<Callable<Long>> all = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      Random random = new Random(client);
      int times = Math.max(1, rows / TOGETHER / PART);
      all.add(
          () -> {
            long bytes = 0;
            try (Table table = connection.getTable(NAME)) {
              for (int i = 0; i < times; i++) {
                bytes += scan(table, begin(random, rows, access));
              }
            }
            return bytes;
          });
    }
    long bytes = 0;
    for (Future<Long> one : pool.invokeAll(all)) {
      bytes += one.get();
    }
    pool.shutdown();
    System.out.println(bytes);
  }

  /** The first row of a scan, which has TOGETHER of them. */
  private static int begin(Random random, int rows, String access) {
    String[] skew = access.split("-");
    int last = Math.max(1, rows - TOGETHER);
    int zone = Math.max(1, (int) (last * Long.parseLong(skew[1]) / 100));
    boolean isOften = random.nextInt(100) < Integer.parseInt(skew[0]);
    int low = isOften || zone == last ? 0 : zone;
    int high = isOften ? zone : last;
    return low + random.nextInt(high - low);
  }

  private static long scan(Table table, int begin) throws Exception {
    Scan scan = new Scan().withStartRow(row(begin)).setLimit(TOGETHER).setCaching(TOGETHER);
    long bytes = 0;
    int found = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        bytes += result.value().length;
        found++;
      }
    }
    if (found != TOGETHER) {
      throw new IllegalStateException(found + " rows of " + TOGETHER);
    }
    return bytes;
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%08d", number));
  }
}
