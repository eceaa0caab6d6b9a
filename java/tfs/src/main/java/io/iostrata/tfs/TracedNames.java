package io.iostrata.tfs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.fs.FsStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.XAttrSetFlag;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/** What a file system knows of its files beside what is in them. */
abstract class TracedNames extends FilterFileSystem {
  /** Null before {@link #initialize}. */
  Names names;

  /** What is done by the name that the file system behind knows. */
  interface Call<T> {
    T run(Path inner) throws IOException;
  }

  interface Action {
    void run(Path inner) throws IOException;
  }

  /** Relative paths stay so, and are the file system's to complete. */
  final Path inner(Path path) {
    return names.inner(path);
  }

  /** Null while nothing is recorded. */
  final Target target(Path inner) {
    return Tracer.isOn() ? names.target(inner, fs.getWorkingDirectory()) : null;
  }

  final <T> T traced(int point, Path path, Call<T> call) throws IOException {
    Path inner = inner(path);
    return Tracer.traced(point, target(inner), () -> call.run(inner));
  }

  final void run(int point, Path path, Action action) throws IOException {
    Path inner = inner(path);
    Tracer.run(point, target(inner), () -> action.run(inner));
  }

  private <T> T asked(Path path, Call<T> call) throws IOException {
    statistics.incrementReadOps(1);
    return traced(Point.GET_ATTRIBUTES, path, call);
  }

  private void set(Path path, Action action) throws IOException {
    statistics.incrementWriteOps(1);
    run(Point.SET_ATTRIBUTES, path, action);
  }

  private FileStatus status(Path path, Call<FileStatus> call) throws IOException {
    statistics.incrementReadOps(1);
    return names.outerStatus(traced(Point.GET_FILE_STATUS, path, call));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return status(path, super::getFileStatus);
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return status(path, super::getFileLinkStatus);
  }

  @Override
  public FileChecksum getFileChecksum(Path path) throws IOException {
    return traced(Point.GET_FILE_CHECKSUM, path, super::getFileChecksum);
  }

  @Override
  public FileChecksum getFileChecksum(Path path, long length) throws IOException {
    return traced(Point.GET_FILE_CHECKSUM, path, inner -> super.getFileChecksum(inner, length));
  }

  @Override
  public void access(Path path, FsAction mode) throws IOException {
    run(Point.GET_ATTRIBUTES, path, inner -> super.access(inner, mode));
  }

  @Override
  public void setOwner(Path path, String user, String group) throws IOException {
    set(path, inner -> super.setOwner(inner, user, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    set(path, inner -> super.setTimes(inner, modified, accessed));
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    set(path, inner -> super.setPermission(inner, permission));
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.SET_ATTRIBUTES, path, inner -> super.setReplication(inner, replication));
  }

  @Override
  public QuotaUsage getQuotaUsage(Path path) throws IOException {
    return asked(path, fs::getQuotaUsage);
  }

  @Override
  public void setQuota(Path path, long files, long bytes) throws IOException {
    set(path, inner -> fs.setQuota(inner, files, bytes));
  }

  @Override
  public void setQuotaByStorageType(Path path, StorageType type, long bytes) throws IOException {
    set(path, inner -> fs.setQuotaByStorageType(inner, type, bytes));
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    set(path, inner -> super.modifyAclEntries(inner, entries));
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    set(path, inner -> super.removeAclEntries(inner, entries));
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    set(path, super::removeDefaultAcl);
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    set(path, super::removeAcl);
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    set(path, inner -> super.setAcl(inner, entries));
  }

  @Override
  public AclStatus getAclStatus(Path path) throws IOException {
    return asked(path, super::getAclStatus);
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value) throws IOException {
    set(path, inner -> super.setXAttr(inner, name, value));
  }

  @Override
  public void setXAttr(Path path, String name, byte[] value, EnumSet<XAttrSetFlag> flags)
      throws IOException {
    set(path, inner -> super.setXAttr(inner, name, value, flags));
  }

  @Override
  public byte[] getXAttr(Path path, String name) throws IOException {
    return asked(path, inner -> super.getXAttr(inner, name));
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path) throws IOException {
    return asked(path, super::getXAttrs);
  }

  @Override
  public Map<String, byte[]> getXAttrs(Path path, List<String> wanted) throws IOException {
    return asked(path, inner -> super.getXAttrs(inner, wanted));
  }

  @Override
  public List<String> listXAttrs(Path path) throws IOException {
    return asked(path, super::listXAttrs);
  }

  @Override
  public void removeXAttr(Path path, String name) throws IOException {
    set(path, inner -> super.removeXAttr(inner, name));
  }

  @Override
  public Path createSnapshot(Path path, String name) throws IOException {
    return names.outer(traced(Point.SNAPSHOT, path, inner -> super.createSnapshot(inner, name)));
  }

  @Override
  public void renameSnapshot(Path path, String from, String to) throws IOException {
    run(Point.SNAPSHOT, path, inner -> super.renameSnapshot(inner, from, to));
  }

  @Override
  public void deleteSnapshot(Path path, String name) throws IOException {
    run(Point.SNAPSHOT, path, inner -> super.deleteSnapshot(inner, name));
  }

  @Override
  public void satisfyStoragePolicy(Path path) throws IOException {
    set(path, super::satisfyStoragePolicy);
  }

  @Override
  public void setStoragePolicy(Path path, String policy) throws IOException {
    set(path, inner -> super.setStoragePolicy(inner, policy));
  }

  @Override
  public void unsetStoragePolicy(Path path) throws IOException {
    set(path, super::unsetStoragePolicy);
  }

  @Override
  public BlockStoragePolicySpi getStoragePolicy(Path path) throws IOException {
    return asked(path, super::getStoragePolicy);
  }

  @Override
  public Path getLinkTarget(Path path) throws IOException {
    return names.outer(super.getLinkTarget(inner(path)));
  }

  @Override
  protected Path resolveLink(Path path) throws IOException {
    return names.outer(super.resolveLink(inner(path)));
  }

  // Where files are, and where new ones go.

  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus status, long start, long length)
      throws IOException {
    if (status == null) {
      return super.getFileBlockLocations((FileStatus) null, start, length);
    }
    FileStatus copy = new FileStatus(status);
    copy.setPath(inner(status.getPath()));
    return traced(
        Point.GET_FILE_BLOCK_LOCATIONS,
        status.getPath(),
        inner -> super.getFileBlockLocations(copy, start, length));
  }

  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    return traced(
        Point.GET_FILE_BLOCK_LOCATIONS,
        path,
        inner -> fs.getFileBlockLocations(inner, start, length));
  }

  @Override
  public Path getHomeDirectory() {
    return names.outer(super.getHomeDirectory());
  }

  @Override
  public void setWorkingDirectory(Path path) {
    super.setWorkingDirectory(inner(path));
  }

  @Override
  public Path getWorkingDirectory() {
    return names.outer(super.getWorkingDirectory());
  }

  @Override
  protected Path getInitialWorkingDirectory() {
    return names.outer(super.getInitialWorkingDirectory());
  }

  @Override
  public Path getTrashRoot(Path path) {
    return names.outer(super.getTrashRoot(inner(path)));
  }

  @Override
  public Collection<FileStatus> getTrashRoots(boolean allUsers) {
    List<FileStatus> roots = new ArrayList<>();
    super.getTrashRoots(allUsers).forEach(root -> roots.add(names.outerStatus(root)));
    return roots;
  }

  @Override
  public FsStatus getStatus(Path path) throws IOException {
    return traced(
        Point.GET_ATTRIBUTES, path == null ? new Path("/") : path, inner -> super.getStatus(inner));
  }

  @Override
  public long getUsed(Path path) throws IOException {
    return super.getUsed(inner(path));
  }

  @Override
  public long getDefaultBlockSize(Path path) {
    return super.getDefaultBlockSize(inner(path));
  }

  @Override
  public short getDefaultReplication(Path path) {
    return super.getDefaultReplication(inner(path));
  }

  @Override
  public FsServerDefaults getServerDefaults(Path path) throws IOException {
    return super.getServerDefaults(inner(path));
  }
}
