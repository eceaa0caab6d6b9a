package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code hfile(file)}: an HFile by its path, or by a reader that has one. */
final class HFileTarget extends Extractor {
  private static final Getter PATH = new Getter("getPath");

  @Override
  long of(Probe probe, Object file, Object unused) throws Throwable {
    if (file == null) {
      return 0;
    }
    String path = file instanceof String ? (String) file : PATH.of(file).toString();
    long handle = probe.hfiles.get(path);
    if (handle == NameCache.ABSENT) {
      handle = Hooks.recorder.name(Schema.CATEGORY_HFILE, local(path));
      probe.hfiles.put(path, handle);
    }
    return handle;
  }

  /** The name that the layers below have for it. */
  static String local(String path) {
    String file = "file:";
    return path.startsWith(file)
        ? path.substring(file.length())
        : HdfsTarget.withoutAuthority(path);
  }
}
