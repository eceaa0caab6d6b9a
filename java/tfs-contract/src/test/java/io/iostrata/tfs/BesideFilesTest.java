package io.iostrata.tfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.Trash;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.token.Token;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the contract does not ask for: where blocks are, tokens, quotas, trash, names. */
class BesideFilesTest {
  private static final Path FILE = new Path("/folder/file");

  private static MiniDFSCluster cluster;
  private static FileSystem hdfs;
  private static FileSystem traced;

  @BeforeAll
  static void begin() throws IOException {
    Configuration conf = new HdfsConfiguration();
    cluster = new MiniDFSCluster.Builder(conf, new File("target/beside")).numDataNodes(2).build();
    hdfs = cluster.getFileSystem();
    traced = FileSystem.get(URI.create("tfs://hdfs@" + cluster.getURI().getAuthority()), conf);
    try {
      DFSTestUtil.createFile(traced, FILE, 10_000, (short) 2, 1);
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  @AfterAll
  static void end() {
    cluster.shutdown();
  }

  @Test
  void blocksAreWhereHdfsSays() throws IOException {
    FileStatus status = traced.getFileStatus(FILE);
    assertThat(status.getPath()).isEqualTo(new Path(traced.getUri() + "/folder/file"));
    assertThat(traced.getFileBlockLocations(status, 0, 10_000))
        .extracting(BlockLocation::toString)
        .isEqualTo(
            Arrays.stream(hdfs.getFileBlockLocations(FILE, 0, 10_000))
                .map(BlockLocation::toString)
                .collect(Collectors.toList()));
    assertThat(traced.listLocatedStatus(FILE.getParent()).next().getBlockLocations()[0].getHosts())
        .hasSize(2);
  }

  @Test
  void tokensAreThoseOfHdfs() throws IOException {
    Credentials credentials = new Credentials();
    Token<?>[] tokens = traced.addDelegationTokens("yarn", credentials);
    assertThat(tokens).hasSize(1);
    assertThat(tokens[0].getKind().toString()).isEqualTo("HDFS_DELEGATION_TOKEN");
    assertThat(tokens[0].getService().toString()).isEqualTo(hdfs.getCanonicalServiceName());
    // AND who has both file systems gets one for both
    assertThat(hdfs.addDelegationTokens("yarn", credentials)).isEmpty();
  }

  @Test
  void quotasAndSummariesAreThoseOfHdfs() throws IOException {
    traced.setQuota(FILE.getParent(), 100, 1L << 30);
    QuotaUsage usage = traced.getQuotaUsage(FILE.getParent());
    assertThat(usage.getQuota()).isEqualTo(100);
    ContentSummary summary = traced.getContentSummary(FILE.getParent());
    assertThat(summary).isEqualTo(hdfs.getContentSummary(FILE.getParent()));
    assertThat(traced.getStatus().getCapacity()).isEqualTo(hdfs.getStatus().getCapacity());
  }

  @Test
  void trashIsThatOfHdfs() throws IOException {
    Path dropped = new Path("/folder/dropped");
    traced.create(dropped).close();
    assertThat(Trash.moveToAppropriateTrash(traced, dropped, traced.getConf())).isTrue();
    assertThat(hdfs.exists(dropped)).isFalse();
    Path root = traced.getTrashRoot(dropped);
    assertThat(root.toUri().getScheme()).isEqualTo("tfs");
    assertThat(traced.exists(Path.mergePaths(new Path(root, "Current"), dropped))).isTrue();
    assertThat(traced.getTrashRoots(false)).extracting(FileStatus::getPath).contains(root);
  }

  @Test
  void namesOfOthersAreWrong() {
    assertThatThrownBy(() -> traced.open(new Path(hdfs.getUri() + "/folder/file")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Wrong FS: hdfs://");
    assertThatThrownBy(() -> traced.open(new Path("tfs://file@/folder/file")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Wrong FS: tfs://file@/");
    for (String none : new String[] {"tfs:///", "tfs://host:8020/", "tfs://tfs@file@/"}) {
      assertThatThrownBy(() -> FileSystem.newInstance(URI.create(none), traced.getConf()))
          .isInstanceOf(IOException.class)
          .hasMessageMatching("(?s)tfs:.*(names no file system|cannot trace itself).*");
    }
  }
}
