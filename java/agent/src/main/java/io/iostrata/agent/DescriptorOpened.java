package io.iostrata.agent;

/**
 * {@code descriptor(path, descriptor)}: the file behind a descriptor, for streams that are made
 * from one: the DataNode writes its blocks through {@code new
 * FileOutputStream(randomAccessFile.getFD())}.
 */
final class DescriptorOpened extends Extractor {
  static final WeakIdentities<String> PATHS = new WeakIdentities<>();

  @Override
  long of(Probe probe, Object path, Object descriptor) {
    if (path != null && descriptor != null) {
      PATHS.put(descriptor, (String) path);
    }
    return 0;
  }
}
