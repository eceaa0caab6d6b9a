import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CompatibilitySingletonFactory;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.MetricsIO;
import org.apache.hadoop.hbase.metrics.BaseSourceImpl;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServerWrapper;
import org.apache.hadoop.hbase.regionserver.wal.MetricsWALSource;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.metrics2.lib.DynamicMetricsRegistry;

/**
 * HBaseLoad FOLDER PROVIDER OF_META ROWS BATCH: a whole HBase in this JVM, a table of two regions, and what a client
 * does with it: ROWS puts of one row, a flush, ROWS puts in lists of BATCH, another flush, a
 * compaction, scans by one row and by many, ROWS gets. Prints what HBase's own metrics say of the
 * whole life of the JVM, as JSON, when HBase is down. PROVIDER writes the WAL of tables, OF_META that
 * of hbase:meta.
 */
public class HBaseLoad {
  private static final TableName NAME = TableName.valueOf("load");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int VALUE = 100;

  public static void main(String[] args) throws Exception {
    java.io.File folder = new java.io.File(args[0]);
    int rows = Integer.parseInt(args[3]);
    Configuration conf = HBaseSettings.of(folder);
    conf.set("hbase.wal.provider", args[1]);
    conf.set("hbase.wal.meta_provider", args[2]);
    conf.setInt("hbase.regionserver.handler.count", 4);
    MiniZooKeeperCluster keeper = new MiniZooKeeperCluster(conf);
    int port = keeper.startup(new java.io.File(folder, "zookeeper"));
    conf.setInt("hbase.zookeeper.property.clientPort", port);
    LocalHBaseCluster cluster = new LocalHBaseCluster(conf, 1, 1);
    cluster.startup();
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      use(connection, rows, Integer.parseInt(args[4]));
    }
    HRegionServer server = cluster.getRegionServers().get(0).getRegionServer();
    cluster.shutdown();
    cluster.join();
    keeper.shutdown();
    System.out.println(metrics(server));
    System.out.flush();
    Runtime.getRuntime().exit(0); // threads of HBase would keep the JVM
  }

  private static void use(Connection connection, int rows, int batch) throws Exception {
    try (Admin admin = connection.getAdmin();
        Table table = connection.getTable(NAME)) {
      admin.createTable(
          TableDescriptorBuilder.newBuilder(NAME)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
              .build(),
          new byte[][] {row(rows)});
      for (int i = 0; i < rows; i++) {
        table.put(put(i));
      }
      admin.flush(NAME);
      List<Put> puts = new ArrayList<>();
      for (int i = rows; i < 2 * rows; i++) {
        puts.add(put(i));
        if (puts.size() == batch) {
          table.put(puts);
          puts.clear();
        }
      }
      table.put(put(0));
      admin.flush(NAME);
      admin.majorCompact(NAME);
      while (admin.getCompactionState(NAME) != CompactionState.NONE) {
        Thread.sleep(50);
      }
      scan(table, 1, rows);
      scan(table, rows, 2 * rows);
      for (int i = 0; i < rows; i++) {
        table.get(new Get(row(i)));
      }
    }
  }

  private static void scan(Table table, int caching, int limit) throws Exception {
    Scan scan = new Scan().setCaching(caching).setLimit(limit);
    int found = 0;
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        found += result.size();
      }
    }
    if (found != limit) {
      throw new IllegalStateException(found + " cells of " + limit);
    }
  }

  private static Put put(int row) {
    return new Put(row(row)).addColumn(FAMILY, COLUMN, new byte[VALUE]);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%08d", number));
  }

  private static String metrics(HRegionServer server) throws Exception {
    MetricsRegionServerWrapper wrapper = server.getMetrics().getRegionServerWrapper();
    Object[][] values = {
      {"append_count", count(wal(), "appendCount")},
      {"append_size", count(wal(), "writtenBytes")},
      {"syncs", count(wal(), "syncTime")},
      {"gets", wrapper.getRpcGetRequestsCount()},
      {"scans", wrapper.getRpcScanRequestsCount()},
      {"multis", wrapper.getRpcMultiRequestsCount()},
      {"mutates", wrapper.getRpcMutateRequestsCount()},
      {"flushes", count(of(server), "flushTime")},
      {"flushed", count(of(server), "flushedOutputBytes")},
      {"compactions", count(of(server), "compactionTime")},
      {"compacted", count(of(server), "compactedOutputBytes")},
      {"compacted_input", count(of(server), "compactedInputBytes")},
      {"reads", count(io(), "fsReadTime")},
      {"preads", count(io(), "fsPReadTime")},
    };
    StringBuilder json = new StringBuilder();
    for (Object[] value : values) {
      json.append(json.length() == 0 ? "{" : ", ").append('"').append(value[0]).append("\": ");
      json.append(value[1]);
    }
    return json.append('}').toString();
  }

  private static BaseSourceImpl wal() {
    return (BaseSourceImpl) CompatibilitySingletonFactory.getInstance(MetricsWALSource.class);
  }

  private static BaseSourceImpl of(HRegionServer server) throws Exception {
    return (BaseSourceImpl) field(server.getMetrics(), "serverSource");
  }

  private static BaseSourceImpl io() throws Exception {
    return (BaseSourceImpl) field(MetricsIO.getInstance(), "source");
  }

  private static Object field(Object of, String name) throws Exception {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  /** Of a counter its value, of a histogram how often something was added. */
  private static Object count(BaseSourceImpl source, String name) throws Exception {
    DynamicMetricsRegistry registry = source.getMetricsRegistry();
    Object metric = registry.get(name);
    if (metric == null) {
      throw new IllegalStateException("no metric " + name);
    }
    for (String method : new String[] {"value", "getCount"}) {
      try {
        Method found = metric.getClass().getMethod(method);
        found.setAccessible(true);
        return found.invoke(metric);
      } catch (NoSuchMethodException e) {
        // the other kind
      }
    }
    throw new IllegalStateException(metric.getClass() + " has no value");
  }
}
