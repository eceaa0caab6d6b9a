package org.apache.hadoop.hdfs.server.datanode;

/** In the shape of Hadoop's. */
public class CachingStrategy {}
