package io.iostrata.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * Prints what the cluster has, as one JSON object: bytes that are free in HDFS without replicas,
 * replicas that a new file gets, live DataNodes and NodeManagers, bytes and cores of containers.
 */
public final class ClusterFacts {
  private ClusterFacts() {}

  public static void main(String[] arguments) throws IOException, YarnException {
    Configuration configuration = new YarnConfiguration();
    FileSystem files = FileSystem.get(configuration);
    int datanodes = 1;
    if (files instanceof DistributedFileSystem) {
      datanodes = ((DistributedFileSystem) files).getDataNodeStats().length;
    }
    int nodes = 0;
    long megabytes = 0;
    int cores = 0;
    if (runsOnYarn(configuration)) {
      try (YarnClient yarn = YarnClient.createYarnClient()) {
        yarn.init(configuration);
        yarn.start();
        for (NodeReport node : yarn.getNodeReports(NodeState.RUNNING)) {
          nodes++;
          megabytes += node.getCapability().getMemorySize();
          cores += node.getCapability().getVirtualCores();
        }
      }
    }
    System.out.printf(
        "{\"free\": %d, \"replication\": %d, \"datanodes\": %d, \"nodemanagers\": %d, "
            + "\"memory\": %d, \"cores\": %d}%n",
        files.getStatus(new Path("/")).getRemaining(),
        files.getDefaultReplication(new Path("/")),
        datanodes,
        nodes,
        megabytes << 20,
        cores);
  }

  private static boolean runsOnYarn(Configuration configuration) {
    return "yarn".equals(configuration.get("mapreduce.framework.name"));
  }
}
