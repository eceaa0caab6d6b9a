package org.apache.hadoop.security.token;

/** In the shape of Hadoop's. */
public class Token {}
