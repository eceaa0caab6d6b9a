package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code filesystem(uri)}: a whole file system. */
final class FileSystemTarget extends Extractor {
  @Override
  long of(Probe probe, Object uri, Object unused) {
    if (uri == null) {
      return 0;
    }
    String name = uri.toString();
    int category = name.startsWith("file:") ? Schema.CATEGORY_FILE : Schema.CATEGORY_HDFS;
    return Hooks.recorder.name(category, name);
  }
}
