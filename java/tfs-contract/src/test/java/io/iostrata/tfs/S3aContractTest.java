package io.iostrata.tfs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * {@code tfs://s3a@BUCKET/} keeps what S3A does with the same server: each contract test ends
 * behind {@code tfs://} as it does without. Some fail there, too: an S3 server that is not Amazon's
 * lists and encrypts in its own way. Bulk deletes are left out: behind {@code tfs://} they are
 * single ones, as of most file systems.
 */
class S3aContractTest {
  private static final int LEAST_PASS = 110;

  @Test
  void eachTestEndsAsWithoutTfs() throws Exception {
    Map<String, String> bare = outcomes("s3a://bucket");
    Map<String, String> traced = outcomes("tfs://s3a@bucket");
    assertThat(traced).isEqualTo(bare);
    assertThat(bare.values()).filteredOn("SUCCESSFUL"::equals).hasSizeGreaterThan(LEAST_PASS);
  }

  /** By test: SUCCESSFUL, ABORTED (it says that the file system need not), or its exception. */
  private static Map<String, String> outcomes(String uri) throws Exception {
    Map<String, String> outcomes = new TreeMap<>();
    TestExecutionListener listener =
        new TestExecutionListener() {
          @Override
          public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
              String thrown = result.getThrowable().map(e -> " " + e.getClass()).orElse("");
              outcomes.put(test.getUniqueId(), result.getStatus() + thrown);
            }
          }
        };
    try (S3Server server = S3Server.start("bucket")) {
      S3aContract.server = server;
      S3aContract.uri = URI.create(uri);
      LauncherDiscoveryRequest tests =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(DiscoverySelectors.selectClass(S3aContract.class))
              .build();
      LauncherFactory.create().execute(tests, listener);
    }
    return outcomes;
  }
}
