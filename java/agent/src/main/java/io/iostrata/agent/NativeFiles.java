package io.iostrata.agent;

import io.iostrata.segment.RecorderFiles;
import java.io.IOException;
import java.nio.MappedByteBuffer;

/**
 * Files as {@code rust/jvmti/src/files.rs} makes them: what java.nio loads and spins for its first
 * mapping costs a starting JVM more than all else that we do.
 */
final class NativeFiles implements RecorderFiles {
  @Override
  public native String makeDirectory(String dir, int uid, String name) throws IOException;

  @Override
  public native MappedByteBuffer create(String path, int size) throws IOException;

  @Override
  public native boolean readControl(String path, byte[] page, int uid);

  @Override
  public void close() {
    // nothing stays open
  }
}
