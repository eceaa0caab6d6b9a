"""Servers of Hadoop and HBase as the column `role` names them: by their main class."""

from __future__ import annotations

# The variable that holds the JVM options of each, in Hadoop 3 and in HBase 2.
OPTIONS = {
    "NameNode": "HDFS_NAMENODE_OPTS",
    "DataNode": "HDFS_DATANODE_OPTS",
    "ResourceManager": "YARN_RESOURCEMANAGER_OPTS",
    "NodeManager": "YARN_NODEMANAGER_OPTS",
    "HMaster": "HBASE_MASTER_OPTS",
    "HRegionServer": "HBASE_REGIONSERVER_OPTS",
}
SERVERS = tuple(OPTIONS)
HDFS_SERVERS = ("NameNode", "DataNode")
HBASE_SERVERS = ("HMaster", "HRegionServer")
