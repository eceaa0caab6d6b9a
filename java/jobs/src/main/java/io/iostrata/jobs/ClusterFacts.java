package io.iostrata.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;

/**
 * Prints what the cluster has, as one JSON object: bytes that are free in HDFS without replicas,
 * replicas that a new file gets, live DataNodes and NodeManagers, bytes and cores of containers,
 * bytes that a job needs at the least.
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
            + "\"memory\": %d, \"cores\": %d, \"job\": %d}%n",
        files.getStatus(new Path("/")).getRemaining(),
        files.getDefaultReplication(new Path("/")),
        datanodes,
        nodes,
        megabytes << 20,
        cores,
        smallestJob(new JobConf(configuration)) << 20);
  }

  /** MB of its ApplicationMaster and of one task, as large as its tasks may be. */
  private static long smallestJob(JobConf job) {
    long master = job.getLong("yarn.app.mapreduce.am.resource.mb", 1536);
    long map = job.getMemoryRequired(TaskType.MAP);
    return master + Math.max(map, job.getMemoryRequired(TaskType.REDUCE));
  }

  private static boolean runsOnYarn(Configuration configuration) {
    return "yarn".equals(configuration.get("mapreduce.framework.name"));
  }
}
