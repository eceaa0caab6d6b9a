package io.iostrata.posixfs;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.posixfs.Locations.Part;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** What the programs of file systems print is understood. */
class LocatorsTest {
  private static final long CHUNK = 64L << 20;

  private static List<String> shown(List<Part> parts) {
    return parts.stream()
        .map(part -> part.offset / CHUNK + " " + part.length + " " + part.nodes)
        .collect(Collectors.toList());
  }

  @Test
  void mooseFsNamesTheServersOfEachChunk() throws IOException {
    List<String> said =
        Arrays.asList(
            "/mnt/a:",
            "\tchunk 0: 0000000000000001_00000001 / (id:1 ver:1)",
            "\t\tcopy 1: 127.0.0.1:9422 (status:VALID)",
            "\t\tcopy 2: 127.0.0.2:9422 (status:INVALID)",
            "\tchunk 1: empty");
    assertThat(shown(MooseLocator.parse(said, 2 * CHUNK + 5)))
        .containsExactly("0 " + CHUNK + " [localhost]", "1 " + CHUNK + " []", "2 5 []");
  }

  @Test
  void cephNamesTheServersOfEachObject() {
    Configuration conf = new Configuration(false);
    conf.set(CephLocator.OBJECT_SIZE, "64m");
    CephLocator locator = new CephLocator(conf, Arrays.asList("node-1", "node-2", "node-3"));
    List<String> said =
        Arrays.asList(
            "osdmap e20 pool 'data' (2) object '10000000001.00000000' -> pg 2.90cf (2.1)"
                + " -> up ([2,0], p2) acting ([2,0], p2)",
            "osdmap e20 pool 'data' (2) object '10000000001.00000001' -> pg 2.77 (2.17)"
                + " -> up ([1], p1) acting ([1], p1)");
    assertThat(shown(locator.parse(said, CHUNK + 7)))
        .containsExactly("0 " + CHUNK + " [node-1, node-3]", "1 7 [node-2]");
  }
}
