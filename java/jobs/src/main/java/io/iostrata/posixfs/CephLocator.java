package io.iostrata.posixfs;

import io.iostrata.posixfs.Locations.Part;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * Asks Ceph, by its own {@code ceph osd map}, for all objects of a file at once.
 *
 * <p>Of a file that is striped over several objects at a time each block is on many nodes, and on
 * none of them as a whole: nothing is said then.
 */
final class CephLocator implements Locations.Locator {
  /** Bytes of an object that a file fills before the next; 0: it is striped. */
  static final String OBJECT_SIZE = "fs.posix.ceph.object.size";

  static final String POOL = "fs.posix.ceph.pool";
  static final String CONFIGURATION = "fs.posix.ceph.conf";
  private static final Pattern PLACE =
      Pattern.compile("object '([^']+)'.* acting \\(\\[([0-9,]*)\\]");

  private final long size;
  private final String pool;
  private final String configuration;
  private final List<String> nodes;

  CephLocator(Configuration conf, List<String> nodes) {
    this.size = conf.getLongBytes(OBJECT_SIZE, 0);
    this.pool = conf.getTrimmed(POOL, "data");
    this.configuration = conf.getTrimmed(CONFIGURATION, "/etc/ceph/ceph.conf");
    this.nodes = nodes;
  }

  @Override
  public List<Part> of(File file, long length) throws IOException {
    if (size == 0 || length == 0) {
      Collection<String> nobody = Collections.emptyList();
      return Collections.singletonList(new Part(0, length, nobody));
    }
    long inode = ((Number) Files.getAttribute(file.toPath(), "unix:ino")).longValue();
    StringBuilder asked = new StringBuilder();
    for (long number = 0; number * size < length; number++) {
      asked.append(String.format("osd map %s %x.%08x%n", pool, inode, number));
    }
    List<String> command = Arrays.asList("ceph", "-c", configuration, "--connect-timeout", "5");
    return parse(Command.run(command, asked.toString()), length);
  }

  List<Part> parse(List<String> lines, long length) {
    List<Part> parts = new ArrayList<>();
    for (String line : lines) {
      Matcher place = PLACE.matcher(line);
      if (!place.find()) {
        continue;
      }
      long number = Long.parseLong(place.group(1).replaceFirst(".*\\.", ""), 16);
      Collection<String> holders = new TreeSet<>();
      for (String server : place.group(2).split(",")) {
        if (!server.isEmpty() && Integer.parseInt(server) < nodes.size()) {
          holders.add(nodes.get(Integer.parseInt(server)));
        }
      }
      long offset = number * size;
      parts.add(new Part(offset, Math.min(size, length - offset), holders));
    }
    return parts;
  }
}
