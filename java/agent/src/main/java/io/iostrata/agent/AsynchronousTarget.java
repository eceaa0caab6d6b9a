package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code asynchronous(channel)}: the file that an AsynchronousFileChannel was opened for. */
final class AsynchronousTarget extends Extractor {
  /** {@code opened(channel, path)}: the path is a sun.nio.fs.UnixPath. */
  static final class Opened extends Extractor {
    static final WeakIdentities<String> PATHS = new WeakIdentities<>();

    @Override
    long of(Probe probe, Object channel, Object path) {
      if (channel != null && path != null) {
        PATHS.put(channel, path.toString());
      }
      return 0;
    }
  }

  @Override
  long of(Probe probe, Object channel, Object unused) {
    String path = channel == null ? null : Opened.PATHS.get(channel);
    // Opened before the agent came: a file all the same.
    return path == null
        ? Hooks.recorder.name(Schema.CATEGORY_FILE, "")
        : FileTarget.ofPath(probe, path);
  }
}
