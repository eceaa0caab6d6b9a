package io.iostrata.tfs;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractContentSummaryTest;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractContractUnbufferTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.Nested;

/** What an object store promises, for {@link S3aContractTest}, which says through what. */
class S3aContract extends CommonContract {
  /** Of the file system, and the server behind it. */
  static volatile URI uri;

  static volatile S3Server server;

  @Override
  AbstractFSContract contract(Configuration conf) {
    server.addTo(conf);
    return new TracedContract(conf, "contract/s3a.xml", uri, new Path("/test"));
  }

  @Nested
  class ContentSummary extends AbstractContractContentSummaryTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Etag extends AbstractContractEtagTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Unbuffer extends AbstractContractUnbufferTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Uploads extends UploadsContract {
    Uploads() {
      super(5 << 20, false);
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }
}
