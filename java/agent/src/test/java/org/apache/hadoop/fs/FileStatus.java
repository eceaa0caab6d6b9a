package org.apache.hadoop.fs;

/** In the shape of Hadoop's. */
public class FileStatus {}
