package io.iostrata.tfs;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * What is said of a local file, whose owner and permission the one behind asks the system for, by
 * its own path, when somebody asks (RawLocalFileSystem).
 */
final class LocalStatus extends FileStatus {
  private static final long serialVersionUID = 1;

  private final transient FileStatus behind;

  LocalStatus(FileStatus behind, Path path, Path link) {
    super(
        behind.getLen(),
        behind.isDirectory(),
        behind.getReplication(),
        behind.getBlockSize(),
        behind.getModificationTime(),
        behind.getAccessTime(),
        null,
        null,
        null,
        link,
        path);
    this.behind = behind;
  }

  @Override
  public FsPermission getPermission() {
    return behind == null ? super.getPermission() : behind.getPermission();
  }

  @Override
  public String getOwner() {
    return behind == null ? super.getOwner() : behind.getOwner();
  }

  @Override
  public String getGroup() {
    return behind == null ? super.getGroup() : behind.getGroup();
  }
}
