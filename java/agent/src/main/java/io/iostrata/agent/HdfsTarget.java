package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code hdfs(path)}: a path of HDFS, given as String or org.apache.hadoop.fs.Path. */
final class HdfsTarget extends Extractor {
  @Override
  long of(Probe probe, Object path, Object unused) {
    return path == null ? 0 : ofPath(probe, path.toString());
  }

  @Override
  boolean isOfFirst(Object path) {
    return path instanceof String;
  }

  static long ofPath(Probe probe, String path) {
    long handle = probe.hdfsPaths.get(path);
    if (handle == NameCache.ABSENT) {
      String name = withoutAuthority(path);
      int ofHBase = HBaseName.category(name);
      int category = ofHBase == HBaseName.NONE ? Schema.CATEGORY_HDFS : ofHBase;
      handle = Hooks.recorder.name(category, name);
      probe.hdfsPaths.put(path, handle);
    }
    return handle;
  }

  /** Streams know /a/b, callers may say hdfs://host:port/a/b: one name for both. */
  static String withoutAuthority(String path) {
    int scheme = path.indexOf("://");
    if (scheme < 0 || path.startsWith("/")) {
      return path;
    }
    int root = path.indexOf('/', scheme + 3);
    return root < 0 ? "/" : path.substring(root);
  }
}
