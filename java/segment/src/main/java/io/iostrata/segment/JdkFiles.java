package io.iostrata.segment;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Through what every JDK has. */
final class JdkFiles implements RecorderFiles {
  @Override
  public String makeDirectory(String dir, int uid, String name) throws IOException {
    return TraceDirectory.create(Paths.get(dir), uid, name).toString();
  }

  @Override
  public MappedByteBuffer create(String path, int size) throws IOException {
    return MappedFile.create(Paths.get(path), size);
  }

  @Override
  public boolean readControl(String path, byte[] page, int uid) {
    // Read, not mapped: whoever truncates a mapped file kills its readers.
    try (RandomAccessFile file = new RandomAccessFile(path, "r")) {
      file.readFully(page);
    } catch (IOException e) {
      return false;
    }
    return trusted(Paths.get(path), uid);
  }

  private static boolean trusted(Path path, int uid) {
    try {
      int owner = (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      return owner == 0 || owner == uid;
    } catch (IOException e) {
      return false;
    }
  }
}
