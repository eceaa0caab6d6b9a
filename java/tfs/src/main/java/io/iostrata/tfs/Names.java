package io.iostrata.tfs;

import io.iostrata.segment.Schema;
import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/**
 * The two names of each file: {@code tfs://KIND@AUTHORITY/path} outside, {@code
 * KIND://AUTHORITY/path} for the file system that has it. {@code tfs://file@/} is {@code file:///}.
 */
final class Names {
  static final String SCHEME = "tfs";

  final URI outer;
  final URI inner;
  private final String kind;

  private Names(URI outer, URI inner) {
    this.outer = outer;
    this.inner = inner;
    this.kind = inner.getScheme();
  }

  /**
   * @throws IOException in one line: the URI names no file system
   */
  static Names of(URI uri) throws IOException {
    String authority = uri.getAuthority();
    int at = authority == null ? -1 : authority.indexOf('@');
    if (at <= 0) {
      throw new IOException(
          uri
              + " names no file system: write tfs://hdfs@HOST:PORT/, tfs://s3a@BUCKET/, tfs://file@/");
    }
    String kind = authority.substring(0, at).toLowerCase(Locale.ROOT);
    if (kind.equals(SCHEME)) {
      throw new IOException(uri + ": tfs:// cannot trace itself");
    }
    Path outer = new Path(SCHEME, authority, "/");
    return new Names(rootless(outer), new Path(kind, rest(authority, at), "/").toUri());
  }

  /** As file systems name themselves: without the root. */
  private static URI rootless(Path root) {
    return URI.create(SCHEME + "://" + root.toUri().getRawAuthority());
  }

  private static String rest(String authority, int at) {
    return at + 1 == authority.length() ? null : authority.substring(at + 1);
  }

  /**
   * @throws IllegalArgumentException as FileSystem's: the path is another file system's
   */
  Path inner(Path path) {
    URI uri = path.toUri();
    String scheme = uri.getScheme();
    if (scheme == null && uri.getAuthority() == null) {
      return path;
    }
    String authority = uri.getAuthority();
    if (scheme != null && !scheme.equalsIgnoreCase(SCHEME)) {
      throw new IllegalArgumentException("Wrong FS: " + path + ", expected: " + outer);
    }
    if (authority == null) {
      return new Path(kind, inner.getAuthority(), uri.getPath());
    }
    int at = authority.indexOf('@');
    if (at < 0 || !authority.substring(0, at).equalsIgnoreCase(kind)) {
      throw new IllegalArgumentException("Wrong FS: " + path + ", expected: " + outer);
    }
    return new Path(kind, rest(authority, at), uri.getPath());
  }

  /** Null for null; what another file system has, as behind a link, keeps its name. */
  Path outer(Path path) {
    if (path == null || !kind.equalsIgnoreCase(path.toUri().getScheme())) {
      return path;
    }
    String authority = path.toUri().getAuthority();
    return new Path(
        SCHEME, kind + "@" + (authority == null ? "" : authority), path.toUri().getPath());
  }

  /** What is said of a file, with its outer name; null for null. */
  FileStatus outerStatus(FileStatus status) {
    return status == null || !kind.equals("file")
        ? renamed(status)
        : new LocalStatus(status, outer(status.getPath()), outer(link(status)));
  }

  /** The same object, which keeps what its class knows beyond FileStatus; null for null. */
  <S extends FileStatus> S renamed(S status) {
    if (status != null) {
      Path link = link(status);
      if (link != null) {
        status.setSymlink(outer(link));
      }
      status.setPath(outer(status.getPath()));
    }
    return status;
  }

  FileStatus[] outerStatuses(FileStatus[] all) {
    for (int i = 0; all != null && i < all.length; i++) {
      all[i] = outerStatus(all[i]);
    }
    return all;
  }

  private static Path link(FileStatus status) {
    try {
      return status.isSymlink() ? status.getSymlink() : null;
    } catch (IOException e) {
      return null; // a link whose target it does not say
    }
  }

  /** What a call is about: of HDFS a path without its NameNode, as DataNodes and agents say it. */
  Target target(Path path, Path working) {
    Path full = path.isAbsolute() ? path : new Path(working, path);
    String name = full.toUri().getPath();
    if (kind.equals("file")) {
      return new Target(Schema.CATEGORY_FILE, name);
    }
    if (kind.endsWith("hdfs")) {
      return new Target(Schema.CATEGORY_HDFS, name);
    }
    return new Target(Schema.CATEGORY_OBJECT, inner.toString().replaceAll("/+$", "") + name);
  }
}
