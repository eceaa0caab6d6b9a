package io.iostrata.posixfs;

import io.iostrata.posixfs.Locations.Part;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks MooseFS, whose chunks are 64 MiB, by its own {@code mfsfileinfo}. */
final class MooseLocator implements Locations.Locator {
  private static final long CHUNK = 64L << 20;
  private static final Pattern NEXT = Pattern.compile("^\\s*chunk (\\d+):");
  private static final Pattern COPY =
      Pattern.compile("^\\s*copy \\d+: ([0-9.]+):\\d+ .*status:VALID");

  @Override
  public List<Part> of(File file, long length) throws IOException {
    return parse(Command.run(Arrays.asList("mfsfileinfo", file.getPath()), ""), length);
  }

  static List<Part> parse(List<String> lines, long length) throws IOException {
    List<Collection<String>> chunks = new ArrayList<>();
    for (String line : lines) {
      Matcher next = NEXT.matcher(line);
      Matcher copy = COPY.matcher(line);
      if (next.find()) {
        while (chunks.size() <= Integer.parseInt(next.group(1))) {
          chunks.add(new TreeSet<>());
        }
      } else if (copy.find() && !chunks.isEmpty()) {
        String node = InetAddress.getByName(copy.group(1)).getHostName();
        chunks.get(chunks.size() - 1).add(node);
      }
    }
    List<Part> parts = new ArrayList<>();
    for (long offset = 0; offset < length; offset += CHUNK) {
      int chunk = (int) (offset / CHUNK);
      Collection<String> nodes = chunk < chunks.size() ? chunks.get(chunk) : new TreeSet<>();
      parts.add(new Part(offset, Math.min(CHUNK, length - offset), nodes));
    }
    return parts;
  }
}
