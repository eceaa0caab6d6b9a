package io.iostrata.tfs;

import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.FutureDataInputStreamBuilder;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.fs.impl.OpenFileParameters;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * {@code tfs://KIND@AUTHORITY/path}: the file system {@code KIND://AUTHORITY/}, whose calls are
 * recorded without an agent (S4.2). Methods that Hadoop makes of others, such as globbing, are made
 * of those here.
 */
public final class TracedFileSystem extends TracedNames {
  static {
    // Where FileContext looks for its own kind of file system.
    Configuration.addDefaultResource("iostrata-tfs.xml");
  }

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    names = Names.of(uri);
    Tracer.begin(conf);
    fs = FileSystem.newInstance(names.inner, conf);
    super.initialize(names.outer, conf);
  }

  @Override
  public String getScheme() {
    return Names.SCHEME;
  }

  @Override
  public URI getUri() {
    return names.outer;
  }

  @Override
  protected URI getCanonicalUri() {
    return names.outer;
  }

  @Override
  protected URI canonicalizeUri(URI uri) {
    return uri;
  }

  @Override
  protected void checkPath(Path path) {
    super.checkPath(inner(path));
  }

  @Override
  public Path makeQualified(Path path) {
    checkPath(path);
    return path.makeQualified(getUri(), getWorkingDirectory());
  }

  @Override
  public StorageStatistics getStorageStatistics() {
    return fs.getStorageStatistics();
  }

  @Override
  public Path resolvePath(Path path) throws IOException {
    return names.outer(super.resolvePath(inner(path)));
  }

  // What is in files.

  private FSDataInputStream reads(Path inner, FSDataInputStream in) {
    return TracedInputStream.around(in, names.target(inner, fs.getWorkingDirectory()), statistics);
  }

  private FSDataOutputStream written(int point, Path path, Call<FSDataOutputStream> call)
      throws IOException {
    statistics.incrementWriteOps(1);
    Target target = names.target(inner(path), fs.getWorkingDirectory());
    return TracedOutputStream.around(traced(point, path, call), target, statistics);
  }

  @Override
  public FSDataInputStream open(Path path, int buffer) throws IOException {
    statistics.incrementReadOps(1);
    return reads(inner(path), traced(Point.OPEN, path, inner -> super.open(inner, buffer)));
  }

  @Override
  public FSDataInputStream open(PathHandle handle, int buffer) throws IOException {
    statistics.incrementReadOps(1);
    FSDataInputStream in = Tracer.traced(Point.OPEN, null, () -> super.open(handle, buffer));
    return TracedInputStream.around(in, null, statistics);
  }

  @Override
  public FutureDataInputStreamBuilder openFile(Path path) throws IOException {
    return createDataInputStreamBuilder(this, path);
  }

  @Override
  public FutureDataInputStreamBuilder openFile(PathHandle handle) throws IOException {
    return createDataInputStreamBuilder(this, handle);
  }

  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      Path path, OpenFileParameters parameters) throws IOException {
    statistics.incrementReadOps(1);
    Path inner = inner(path);
    return traced(Point.OPEN, path, it -> super.openFileWithOptions(it, parameters))
        .thenApply(in -> reads(inner, in));
  }

  @Override
  protected CompletableFuture<FSDataInputStream> openFileWithOptions(
      PathHandle handle, OpenFileParameters parameters) throws IOException {
    statistics.incrementReadOps(1);
    return Tracer.traced(Point.OPEN, null, () -> super.openFileWithOptions(handle, parameters))
        .thenApply(in -> TracedInputStream.around(in, null, statistics));
  }

  /** The status says by its path which file it is about, and by its class what else it knows. */
  @Override
  protected PathHandle createPathHandle(FileStatus status, Options.HandleOpt... options) {
    synchronized (status) {
      Path path = status.getPath();
      status.setPath(inner(path));
      try {
        return super.createPathHandle(status, options);
      } finally {
        status.setPath(path);
      }
    }
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int buffer,
      short replication,
      long block,
      Progressable progress)
      throws IOException {
    return written(
        Point.CREATE,
        path,
        it -> super.create(it, permission, overwrite, buffer, replication, block, progress));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int buffer,
      short replication,
      long block,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return written(
        Point.CREATE,
        path,
        it -> super.create(it, permission, flags, buffer, replication, block, progress, checksum));
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int buffer,
      short replication,
      long block,
      Progressable progress)
      throws IOException {
    return written(
        Point.CREATE,
        path,
        it ->
            super.createNonRecursive(it, permission, flags, buffer, replication, block, progress));
  }

  @Override
  protected FSDataOutputStream primitiveCreate(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int buffer,
      short replication,
      long block,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    return written(
        Point.CREATE,
        path,
        it ->
            super.primitiveCreate(
                it, permission, flags, buffer, replication, block, progress, checksum));
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> createFile(Path path) {
    return new TracedOutputBuilder(
        this, path, fs.createFile(inner(path)), call -> written(Point.CREATE, path, call));
  }

  @Override
  public FSDataOutputStreamBuilder<?, ?> appendFile(Path path) {
    return new TracedOutputBuilder(
        this, path, fs.appendFile(inner(path)), call -> written(Point.APPEND, path, call));
  }

  @Override
  public FSDataOutputStream append(Path path, int buffer, Progressable progress)
      throws IOException {
    return written(Point.APPEND, path, inner -> super.append(inner, buffer, progress));
  }

  @Override
  public FSDataOutputStream append(Path path, int buffer, Progressable progress, boolean toNewBlock)
      throws IOException {
    return written(Point.APPEND, path, inner -> fs.append(inner, buffer, progress, toNewBlock));
  }

  @Override
  public void concat(Path path, Path[] parts) throws IOException {
    statistics.incrementWriteOps(1);
    Path[] inner = new Path[parts.length];
    for (int i = 0; i < parts.length; i++) {
      inner[i] = inner(parts[i]);
    }
    run(Point.CONCAT, path, it -> super.concat(it, inner));
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.TRUNCATE, path, inner -> super.truncate(inner, length));
  }

  // Names of files.

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    statistics.incrementWriteOps(1);
    Path inner = inner(to);
    return traced(Point.RENAME, from, it -> super.rename(it, inner));
  }

  @Override
  protected void rename(Path from, Path to, Options.Rename... options) throws IOException {
    statistics.incrementWriteOps(1);
    Path inner = inner(to);
    run(Point.RENAME, from, it -> super.rename(it, inner, options));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.DELETE, path, inner -> super.delete(inner, recursive));
  }

  @Override
  public boolean mkdirs(Path path) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.MKDIRS, path, super::mkdirs);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.MKDIRS, path, inner -> super.mkdirs(inner, permission));
  }

  @Override
  protected boolean primitiveMkdir(Path path, FsPermission permission) throws IOException {
    statistics.incrementWriteOps(1);
    return traced(Point.MKDIRS, path, inner -> super.primitiveMkdir(inner, permission));
  }

  @Override
  public void createSymlink(Path target, Path link, boolean parents) throws IOException {
    Path inner = Names.SCHEME.equals(target.toUri().getScheme()) ? inner(target) : target;
    run(Point.SET_ATTRIBUTES, link, it -> super.createSymlink(inner, it, parents));
  }

  // Lists of files.

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return names.outerStatuses(traced(Point.LIST, path, super::listStatus));
  }

  private RemoteIterator<LocatedFileStatus> located(
      Path path, Call<RemoteIterator<LocatedFileStatus>> call) throws IOException {
    statistics.incrementReadOps(1);
    RemoteIterator<LocatedFileStatus> found = traced(Point.LIST, path, call);
    return RemoteIterators.mappingRemoteIterator(found, names::renamed);
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    statistics.incrementReadOps(1);
    RemoteIterator<FileStatus> found = traced(Point.LIST, path, super::listStatusIterator);
    return RemoteIterators.mappingRemoteIterator(found, names::outerStatus);
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return located(path, super::listLocatedStatus);
  }

  @Override
  protected RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path, PathFilter filter)
      throws IOException {
    PathFilter inside = found -> filter.accept(names.outer(found));
    return located(path, inner -> super.listLocatedStatus(inner, inside));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listFiles(Path path, boolean recursive)
      throws IOException {
    return located(path, inner -> fs.listFiles(inner, recursive));
  }

  @Override
  public RemoteIterator<Path> listCorruptFileBlocks(Path path) throws IOException {
    RemoteIterator<Path> found = traced(Point.LIST, path, super::listCorruptFileBlocks);
    return RemoteIterators.mappingRemoteIterator(found, names::outer);
  }

  @Override
  public ContentSummary getContentSummary(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return traced(Point.GET_ATTRIBUTES, path, fs::getContentSummary);
  }

  @Override
  public MultipartUploaderBuilder<?, ?> createMultipartUploader(Path base) throws IOException {
    return TracedUploads.builder(this, fs.createMultipartUploader(inner(base)));
  }

  /** By an uploader, which makes its own streams. */
  void wrote(long bytes) {
    statistics.incrementWriteOps(1);
    statistics.incrementBytesWritten(bytes);
  }

  @Override
  public boolean hasPathCapability(Path path, String capability) throws IOException {
    return fs.hasPathCapability(inner(path), capability);
  }

  // To and from local files: by the streams of this file system, so that they are seen.

  @Override
  public void copyFromLocalFile(boolean delete, Path from, Path to) throws IOException {
    copyFromLocalFile(delete, true, from, to);
  }

  @Override
  public void copyFromLocalFile(boolean delete, boolean overwrite, Path from, Path to)
      throws IOException {
    FileUtil.copy(getLocal(getConf()), from, this, to, delete, overwrite, getConf());
  }

  @Override
  public void copyFromLocalFile(boolean delete, boolean overwrite, Path[] from, Path to)
      throws IOException {
    FileUtil.copy(getLocal(getConf()), from, this, to, delete, overwrite, getConf());
  }

  @Override
  public void copyToLocalFile(boolean delete, Path from, Path to) throws IOException {
    copyToLocalFile(delete, from, to, false);
  }

  @Override
  public Path startLocalOutput(Path output, Path local) throws IOException {
    return names.outer(super.startLocalOutput(inner(output), local));
  }

  @Override
  public void completeLocalOutput(Path output, Path local) throws IOException {
    super.completeLocalOutput(inner(output), local);
  }
}
