package io.iostrata.posixfs;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where the blocks of files are, as far as the file system says so; asked once for each file. */
final class Locations {
  /** Who is asked: {@code moosefs}, {@code cephfs}, or {@code none}. */
  static final String ASKED = "fs.posix.locations";

  /**
   * {@code free}: all nodes that have a block; {@code local}: one of them; {@code remote}: one that
   * has it not, so that a task runs elsewhere; {@code none}: nobody says where anything is.
   *
   * <p>YARN keeps a promise of one node: of several, it may take one for a task that has got
   * another meanwhile, and give that to a task that wanted neither.
   */
  static final String LOCALITY = "fs.posix.locality";

  /** Names of all nodes, in the order of their numbers. */
  static final String NODES = "fs.posix.nodes";

  private static final List<String> LOCALITIES = Arrays.asList("free", "local", "remote", "none");
  private static final Logger LOG = LoggerFactory.getLogger(Locations.class);
  private static final String[] NO_HOSTS = {};
  private static final int MOST_FILES = 10_000;

  /** Nodes of each part of a file. */
  interface Locator {
    List<Part> of(File file, long length) throws IOException;
  }

  /** Bytes from {@code offset}, and the names of the nodes that have all of them. */
  static final class Part {
    final long offset;
    final long length;
    final Collection<String> nodes;

    Part(long offset, long length, Collection<String> nodes) {
      this.offset = offset;
      this.length = length;
      this.nodes = nodes;
    }
  }

  private final Locator locator;
  private final List<String> nodes;
  private final String locality;
  private final Map<String, List<BlockLocation>> known =
      new LinkedHashMap<String, List<BlockLocation>>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, List<BlockLocation>> eldest) {
          return size() > MOST_FILES;
        }
      };
  private boolean hasFailed;

  Locations(Configuration conf) throws IOException {
    nodes = Arrays.asList(conf.getTrimmedStrings(NODES));
    locality = conf.getTrimmed(LOCALITY, "free");
    if (!LOCALITIES.contains(locality)) {
      throw new IOException(LOCALITY + "=" + locality + ": say one of " + LOCALITIES);
    }
    locator = locality.equals("none") ? null : locator(conf);
  }

  private Locations() {
    nodes = Collections.emptyList();
    locality = "none";
    locator = null;
  }

  static Locations none() {
    return new Locations();
  }

  private Locator locator(Configuration conf) throws IOException {
    String asked = conf.getTrimmed(ASKED, "none");
    switch (asked) {
      case "moosefs":
        return new MooseLocator();
      case "cephfs":
        return new CephLocator(conf, nodes);
      case "none":
        return null;
      default:
        throw new IOException(ASKED + "=" + asked + ": say moosefs, cephfs or none");
    }
  }

  /** Never raises anything: a job goes on without knowing where its input is. */
  synchronized List<BlockLocation> of(File file, FileStatus status) {
    String key = file + "\t" + status.getLen() + "\t" + status.getModificationTime();
    return known.computeIfAbsent(key, ignored -> ask(file, status.getLen()));
  }

  private List<BlockLocation> ask(File file, long length) {
    try {
      List<BlockLocation> found = new ArrayList<>();
      for (Part part : locator == null ? whole(length) : locator.of(file, length)) {
        String[] hosts = hosts(part.nodes, file.hashCode() + found.size()).toArray(NO_HOSTS);
        found.add(new BlockLocation(hosts, hosts, part.offset, part.length));
      }
      return found;
    } catch (IOException | RuntimeException failure) {
      if (!hasFailed) {
        LOG.warn("Where blocks are is not known: {}", failure.toString());
      }
      hasFailed = true;
      return Collections.singletonList(new BlockLocation(null, null, 0, length));
    }
  }

  private static List<Part> whole(long length) {
    return Collections.singletonList(new Part(0, length, Collections.<String>emptyList()));
  }

  /** Of the nodes that have a part, those to name; which one of several, the number says. */
  private List<String> hosts(Collection<String> holders, int number) {
    List<String> found = new ArrayList<>(holders);
    if (locality.equals("remote") && !holders.isEmpty()) {
      found = new ArrayList<>(nodes);
      found.removeAll(holders);
    }
    boolean isFree = locality.equals("free");
    return isFree || found.isEmpty()
        ? found
        : Collections.singletonList(found.get(Math.floorMod(number, found.size())));
  }
}
