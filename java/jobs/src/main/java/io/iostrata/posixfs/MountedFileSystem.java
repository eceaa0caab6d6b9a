package io.iostrata.posixfs;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * {@code posix:///…}: a mounted file system that all nodes share, whose root is the mount, with the
 * nodes that each block is on, so that Hadoop's schedulers can run a task there (S4.5, S4.8).
 *
 * <p>Nothing outside of {@value #MOUNT} can be named, and it has to be mounted: otherwise a job
 * would fill the disk of the machine.
 */
public final class MountedFileSystem extends RawLocalFileSystem {
  public static final String SCHEME = "posix";

  /** The mount, an absolute path. */
  public static final String MOUNT = "fs.posix.mount";

  /** Bytes of a block as jobs see it, by which they split their input. */
  public static final String BLOCK_SIZE = "fs.posix.block.size";

  private static final URI NAME = URI.create(SCHEME + ":///");
  private static final long DEFAULT_BLOCK_SIZE = 64L << 20;
  private static final java.nio.file.Path MOUNTS = Paths.get("/proc/self/mountinfo");
  private static final int POINT = 4; // of the fields of a line there

  private File mount = new File("/");
  private Locations locations = Locations.none();

  @Override
  public URI getUri() {
    return NAME;
  }

  @Override
  public String getScheme() {
    return SCHEME;
  }

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    super.initialize(NAME, conf);
    String named = conf.getTrimmed(MOUNT, "");
    if (!isMounted(named)) {
      throw new IOException("nothing is mounted at " + MOUNT + "=" + named);
    }
    mount = new File(named);
    locations = new Locations(conf);
    setWorkingDirectory(getHomeDirectory());
  }

  private static boolean isMounted(String point) throws IOException {
    for (String line : Files.readAllLines(MOUNTS, StandardCharsets.UTF_8)) {
      if (line.split(" ")[POINT].replace("\\040", " ").equals(point)) {
        return true;
      }
    }
    return false;
  }

  /** The file below the mount. Raises IllegalArgumentException for one outside. */
  @Override
  public File pathToFile(Path path) {
    File file = new File(mount, super.pathToFile(path).getPath());
    if (!file.toPath().normalize().startsWith(mount.toPath())) {
      throw new IllegalArgumentException(path + " is not below the mount " + mount);
    }
    return file;
  }

  @Override
  protected OutputStream createOutputStreamWithMode(
      Path path, boolean append, FsPermission permission) throws IOException {
    OutputStream made = super.createOutputStreamWithMode(path, append, permission);
    return new SettledOutputStream(made, pathToFile(path).toPath());
  }

  /** None, for FileContext: it begins in the home directory. */
  @Override
  protected Path getInitialWorkingDirectory() {
    return null;
  }

  @Override
  public Path getHomeDirectory() {
    return makeQualified(new Path("/user/" + System.getProperty("user.name")));
  }

  @Override
  public FileStatus getFileLinkStatus(Path path) throws IOException {
    return getFileStatus(path);
  }

  /**
   * Of what the name leads to. Hadoop's own class finds owners by {@code ls}, and only of names
   * that begin with {@code file:}.
   */
  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    Path named = path.makeQualified(NAME, getWorkingDirectory());
    PosixFileAttributes found;
    try {
      found = Files.readAttributes(pathToFile(path).toPath(), PosixFileAttributes.class);
    } catch (NoSuchFileException missing) {
      throw (IOException) new FileNotFoundException(path + " does not exist").initCause(missing);
    }
    return new FileStatus(
        found.isDirectory() ? 0 : found.size(),
        found.isDirectory(),
        1,
        getDefaultBlockSize(path),
        found.lastModifiedTime().toMillis(),
        found.lastAccessTime().toMillis(),
        new FsPermission(mode(found)),
        found.owner().getName(),
        found.group().getName(),
        named);
  }

  private static short mode(PosixFileAttributes of) {
    int mode = 0;
    for (PosixFilePermission permission : of.permissions()) {
      mode |= 0400 >> permission.ordinal();
    }
    return (short) mode;
  }

  @Override
  @SuppressWarnings("deprecation") // it is what those without a path ask
  public long getDefaultBlockSize() {
    return getConf().getLongBytes(BLOCK_SIZE, DEFAULT_BLOCK_SIZE);
  }

  @Override
  public long getDefaultBlockSize(Path path) {
    return getDefaultBlockSize();
  }

  /** The parts of a range, each with the names of the nodes that have it; none where unknown. */
  @Override
  public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
      throws IOException {
    if (file == null) {
      return null;
    }
    if (start < 0 || length < 0) {
      throw new IllegalArgumentException("a range from " + start + " of " + length + " bytes");
    }
    List<BlockLocation> found = new ArrayList<>();
    for (BlockLocation block : locations.of(pathToFile(file.getPath()), file)) {
      if (block.getOffset() < start + length && block.getOffset() + block.getLength() > start) {
        found.add(block);
      }
    }
    return found.toArray(new BlockLocation[0]);
  }

  @Override
  public BlockLocation[] getFileBlockLocations(Path path, long start, long length)
      throws IOException {
    return getFileBlockLocations(getFileStatus(path), start, length);
  }
}
