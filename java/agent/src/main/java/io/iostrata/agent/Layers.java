package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** Codes of schema/events.toml [layer] by name. */
final class Layers {
  private static final String[] NAMES = {
    "record",
    "task",
    "fs",
    "hdfs",
    "rpc",
    "namenode",
    "datanode",
    "java",
    "posix",
    "device",
    "jvm",
    "hbase"
  };
  private static final int[] CODES = {
    Schema.LAYER_RECORD,
    Schema.LAYER_TASK,
    Schema.LAYER_FS,
    Schema.LAYER_HDFS,
    Schema.LAYER_RPC,
    Schema.LAYER_NAMENODE,
    Schema.LAYER_DATANODE,
    Schema.LAYER_JAVA,
    Schema.LAYER_POSIX,
    Schema.LAYER_DEVICE,
    Schema.LAYER_JVM,
    Schema.LAYER_HBASE
  };

  private Layers() {}

  static byte code(String name) {
    for (int i = 0; i < NAMES.length; i++) {
      if (NAMES[i].equals(name)) {
        return (byte) CODES[i];
      }
    }
    throw new IllegalArgumentException("no layer is called " + name);
  }
}
