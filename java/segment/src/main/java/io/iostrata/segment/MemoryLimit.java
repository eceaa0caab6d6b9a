package io.iostrata.segment;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** What memory the cgroup of this process allows: pages of shared memory count in it. */
final class MemoryLimit {
  private MemoryLimit() {}

  /** Bytes, Long.MAX_VALUE when nothing limits them. */
  static long bytes() {
    return bytes(Paths.get("/proc/self/cgroup"), Paths.get("/sys/fs/cgroup"));
  }

  /** The smallest limit of the groups that {@code membership} names, versions 1 and 2. */
  static long bytes(Path membership, Path cgroups) {
    long limit = Long.MAX_VALUE;
    String[] lines = text(membership).split("\n");
    for (int i = 0; i < lines.length; i++) {
      // hierarchy:controllers:path; version 2 names no controllers
      int first = lines[i].indexOf(':');
      int second = lines[i].indexOf(':', first + 1);
      if (first < 0 || second < 0) {
        continue;
      }
      String controllers = lines[i].substring(first + 1, second);
      String path = lines[i].substring(second + 1);
      if (controllers.isEmpty()) {
        limit = Math.min(limit, along(cgroups, path, "memory.max"));
      } else if (("," + controllers + ",").contains(",memory,")) {
        Path memory = cgroups.resolve("memory");
        limit = Math.min(limit, along(memory, path, "memory.limit_in_bytes"));
      }
    }
    return limit;
  }

  /** Smallest limit from the group up to the root; in a container the path may lie outside. */
  private static long along(Path root, String path, String file) {
    long limit = limit(root.resolve(file));
    Path group = root;
    String[] names = path.split("/");
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals("..")) {
        return limit;
      }
      if (!names[i].isEmpty()) {
        group = group.resolve(names[i]);
        limit = Math.min(limit, limit(group.resolve(file)));
      }
    }
    return limit;
  }

  private static long limit(Path file) {
    String text = text(file).trim();
    try {
      return text.isEmpty() || text.equals("max") ? Long.MAX_VALUE : Long.parseLong(text);
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  private static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException missing) {
      return "";
    }
  }
}
