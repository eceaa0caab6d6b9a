package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** What a path says of files of HBase: its logs, and its store files by their place in a table. */
final class HBaseName {
  static final int NONE = -1;

  /** An encoded name: of a region, and of a store file. */
  private static final int ENCODED = 32;

  /** The region of hbase:meta keeps the name of an older encoding. */
  private static final String META = "1588230740";

  private HBaseName() {}

  /**
   * {@link Schema#CATEGORY_WAL}, {@link Schema#CATEGORY_HFILE}, or {@link #NONE} for other files.
   * Logs are WALs/SERVER/SERVER.NUMBER, with an escaped comma in the name of the server, and
   * oldWALs/SERVER.NUMBER; store files are REGION/FAMILY/FILE, also below .tmp while they are made.
   */
  static int category(String path) {
    int file = path.lastIndexOf('/') + 1;
    if (path.indexOf("%2C", file) > 0 && path.contains("WALs/")) {
      return Schema.CATEGORY_WAL;
    }
    if (!isEncoded(path, fileStart(path, file))) {
      return NONE;
    }
    int family = start(path, file - 1);
    int region = start(path, family - 1);
    boolean made = path.startsWith(".tmp/", region);
    region = made ? start(path, region - 1) : region;
    boolean known = isEncoded(path, region) || path.startsWith(META + "/", region);
    return family > 0 && region > 0 && known ? Schema.CATEGORY_HFILE : NONE;
  }

  /** A local file of checksums is called .NAME.crc. */
  private static int fileStart(String path, int file) {
    return path.startsWith(".", file) && path.endsWith(".crc") ? file + 1 : file;
  }

  /** Where the part of a path begins that ends at a slash; 0 or less: nowhere. */
  private static int start(String path, int slash) {
    return slash <= 0 ? 0 : path.lastIndexOf('/', slash - 1) + 1;
  }

  /** 32 hexadecimal digits, and then no further letter of a word. */
  private static boolean isEncoded(String path, int from) {
    int end = from + ENCODED;
    if (from <= 0 || end > path.length()) {
      return false;
    }
    for (int i = from; i < end; i++) {
      char c = path.charAt(i);
      if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
        return false;
      }
    }
    return end == path.length() || !Character.isLetterOrDigit(path.charAt(end));
  }
}
