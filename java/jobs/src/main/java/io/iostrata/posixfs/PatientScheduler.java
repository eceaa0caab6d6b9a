package io.iostrata.posixfs;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;

/**
 * Lets a task wait for the node that it wants for as long as the queue says. CapacityScheduler
 * gives up when so many nodes have offered a container as the cluster has
 * (RegularContainerAllocator 3.3 to 3.5), whatever {@code node-locality-delay} is: on a few nodes
 * no placement can be forced.
 */
public final class PatientScheduler extends CapacityScheduler {
  private static final int MANY = 1_000_000;

  /** With the first node CapacityScheduler starts to schedule: one stays one. */
  @Override
  public int getNumClusterNodes() {
    int nodes = super.getNumClusterNodes();
    return nodes > 1 ? MANY : nodes;
  }
}
