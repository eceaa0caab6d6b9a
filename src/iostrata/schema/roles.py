"""Servers as the column `role` names them: those of Hadoop and HBase by their main class, those of
other file systems by their program.
"""

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
# What mounts a file system, and serves whoever uses the mount.
STORAGE_CLIENTS = ("mfsmount", "ceph-fuse")
# Of MooseFS and Ceph.
STORAGE_SERVERS = (
    *("mfsmaster", "mfschunkserver"),
    *("ceph-mon", "ceph-mgr", "ceph-mds", "ceph-osd"),
    *STORAGE_CLIENTS,
)
SERVERS = (*OPTIONS, *STORAGE_SERVERS)
HDFS_SERVERS = ("NameNode", "DataNode")
HBASE_SERVERS = ("HMaster", "HRegionServer")
