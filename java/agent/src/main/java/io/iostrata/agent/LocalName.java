package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.io.FileDescriptor;

/** What a local path says about the file: its category, and block and generation of HDFS data. */
final class LocalName {
  private static final String BLOCK = "blk_";
  private static final String META = ".meta";
  private static final long NONE = -1;

  /**
   * Where relative paths begin. Asked for when the agent starts: in a hook, a security manager asks
   * whether the program may know.
   */
  private static volatile String directory = "";

  final int category;
  final long block;
  final long generation;

  private LocalName(int category, long block, long generation) {
    this.category = category;
    this.block = block;
    this.generation = generation;
  }

  /** The agent starts: no code of the program is on the stack. */
  static void begin() {
    directory = System.getProperty("user.dir", "");
  }

  /** Handle of the file; a relative path is completed. */
  static long handle(String path) {
    String full = path.startsWith("/") ? path : directory + "/" + path;
    LocalName name = of(full);
    return Hooks.recorder.name(name.category, full, 0, name.block, name.generation);
  }

  /** Handle of what is behind a descriptor without a path. */
  static long pipe(FileDescriptor descriptor) {
    String name = "";
    if (descriptor == FileDescriptor.in) {
      name = "stdin";
    } else if (descriptor == FileDescriptor.out) {
      name = "stdout";
    } else if (descriptor == FileDescriptor.err) {
      name = "stderr";
    }
    return Hooks.recorder.name(Schema.CATEGORY_PIPE, name);
  }

  static LocalName of(String path) {
    String file = path.substring(path.lastIndexOf('/') + 1);
    if (file.startsWith(BLOCK)) {
      LocalName block = block(file);
      if (block != null) {
        return block;
      }
    }
    return new LocalName(category(path, file), NONE, NONE);
  }

  /** blk_ID or blk_ID_GENERATION.meta; null for other names. */
  private static LocalName block(String file) {
    boolean meta = file.endsWith(META);
    int end = file.length() - (meta ? META.length() : 0);
    int between = file.indexOf('_', BLOCK.length());
    try {
      if (meta && between > 0) {
        long block = Long.parseLong(file.substring(BLOCK.length(), between));
        long generation = Long.parseLong(file.substring(between + 1, end));
        return new LocalName(Schema.CATEGORY_BLK_META, block, generation);
      }
      long block = Long.parseLong(file.substring(BLOCK.length()));
      return new LocalName(Schema.CATEGORY_BLK, block, NONE);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static int category(String path, String file) {
    if (file.endsWith(".jar") || file.endsWith(".zip")) {
      return Schema.CATEGORY_JARS;
    }
    if (file.endsWith(".class") || file.equals("modules")) {
      return Schema.CATEGORY_CLASSES;
    }
    if (file.endsWith(".properties")) {
      return Schema.CATEGORY_PROPERTIES;
    }
    if (file.endsWith(".xml")) {
      return Schema.CATEGORY_XML;
    }
    if (isLog(path, file)) {
      return Schema.CATEGORY_LOG;
    }
    if (isSpill(file)) {
      return Schema.CATEGORY_SPILL;
    }
    int ofHBase = HBaseName.category(path);
    if (ofHBase != HBaseName.NONE) {
      return ofHBase;
    }
    if (path.contains("/blockmgr-")) {
      return ofSpark(file);
    }
    if (file.startsWith("fsimage") || file.startsWith("edits_")) {
      return Schema.CATEGORY_NAMENODE;
    }
    return Schema.CATEGORY_FILE;
  }

  /** What Spark keeps on a disk: shuffle_0_1_0.index, temp_local_UUID, rdd_3_0. */
  private static int ofSpark(String file) {
    if (file.startsWith("shuffle_")) {
      return Schema.CATEGORY_SHUFFLE;
    }
    return file.startsWith("temp_") ? Schema.CATEGORY_SPILL : Schema.CATEGORY_FILE;
  }

  /**
   * What a map task writes before and after it merges: spill0.out, of YARN's tasks
   * attempt_…_spill_0.out (YarnOutputFiles), then file.out.
   */
  private static boolean isSpill(String file) {
    boolean ofYarn = file.startsWith("attempt_") && file.contains("_spill_");
    return (ofYarn || file.startsWith("spill")) && file.endsWith(".out") || file.equals("file.out");
  }

  private static boolean isLog(String path, String file) {
    return file.endsWith(".log")
        || file.contains(".log.")
        || path.contains("/userlogs/")
            && (file.equals("syslog") || file.equals("stdout") || file.equals("stderr"));
  }
}
