package io.iostrata.segment;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** Makes DIR/UID/PID-PROC, and says in one line why it cannot. */
final class TraceDirectory {
  private static final int PERMISSIONS = 0777;

  private TraceDirectory() {}

  static Path create(Path root, int uid, String name) throws IOException {
    int self = ThisProcess.uid();
    if (!Files.isDirectory(root)) {
      throw new IOException(root + (Files.exists(root) ? " is no directory" : " does not exist"));
    }
    int owner = (Integer) Files.getAttribute(root, "unix:uid");
    if (owner != 0 && owner != self) {
      throw new IOException(root + " belongs to uid " + owner + ", neither root nor " + self);
    }
    Path user = root.resolve(Integer.toString(uid));
    try {
      make(user);
    } catch (FileAlreadyExistsException e) {
      check(user, self);
    }
    Path process = user.resolve(name);
    make(process);
    return process;
  }

  /** In a directory open to all, somebody else may have made ours. */
  private static void check(Path user, int self) throws IOException {
    int owner = (Integer) Files.getAttribute(user, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    if (owner != self) {
      throw new IOException(user + " belongs to uid " + owner + ", not " + self);
    }
    if (!Files.isDirectory(user, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(user + " is no directory");
    }
    int mode = (Integer) Files.getAttribute(user, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    if ((mode & PERMISSIONS & ~0700) != 0) {
      String octal = Integer.toOctalString(mode & PERMISSIONS);
      throw new IOException(user + " is open to others (mode " + octal + ", not 700)");
    }
  }

  private static void make(Path directory) throws IOException {
    Set<PosixFilePermission> owner =
        EnumSet.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.OWNER_EXECUTE);
    FileAttribute<Set<PosixFilePermission>> mode = PosixFilePermissions.asFileAttribute(owner);
    try {
      Files.createDirectory(directory, mode);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (FileSystemException e) {
      String reason = e.getReason() == null ? e.toString() : e.getReason();
      throw new IOException("cannot make " + directory + ": " + reason, e);
    }
  }

  /** 16 hex digits. */
  static String hex(long proc) {
    String digits = Long.toHexString(proc);
    return "0000000000000000".substring(digits.length()) + digits;
  }
}
