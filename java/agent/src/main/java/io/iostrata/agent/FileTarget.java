package io.iostrata.agent;

import java.io.File;
import java.io.FileDescriptor;
import java.nio.file.Path;

/** {@code file(path, descriptor)}: a local file. The path is a String, File or Path, or null. */
final class FileTarget extends Extractor {
  @Override
  long of(Probe probe, Object path, Object descriptor) {
    if (path instanceof String) {
      return ofPath(probe, (String) path);
    }
    if (path instanceof File) {
      return ofPath(probe, ((File) path).getPath());
    }
    if (path instanceof Path) {
      return ofPath(probe, path.toString());
    }
    return descriptor == null ? 0 : ofDescriptor(probe, (FileDescriptor) descriptor);
  }

  @Override
  boolean isOfFirst(Object path) {
    return path != null;
  }

  static long ofPath(Probe probe, String path) {
    long handle = probe.paths.get(path);
    if (handle == NameCache.ABSENT) {
      handle = LocalName.handle(path);
      probe.paths.put(path, handle);
    }
    return handle;
  }

  /** A descriptor that no traced file was opened with is a pipe, a socket or a terminal. */
  static long ofDescriptor(Probe probe, FileDescriptor descriptor) {
    long handle = probe.descriptors.get(descriptor);
    if (handle == NameCache.ABSENT) {
      String path = DescriptorOpened.PATHS.get(descriptor);
      handle = path == null ? LocalName.pipe(descriptor) : LocalName.handle(path);
      probe.descriptors.put(descriptor, handle);
    }
    return handle;
  }
}
