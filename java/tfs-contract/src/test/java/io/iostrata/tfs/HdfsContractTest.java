package io.iostrata.tfs;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractAppendTest;
import org.apache.hadoop.fs.contract.AbstractContractBulkDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractConcatTest;
import org.apache.hadoop.fs.contract.AbstractContractPathHandleTest;
import org.apache.hadoop.fs.contract.AbstractContractRootDirectoryTest;
import org.apache.hadoop.fs.contract.AbstractContractSetTimesTest;
import org.apache.hadoop.fs.contract.AbstractContractUnbufferTest;
import org.apache.hadoop.fs.contract.AbstractContractVectoredReadTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.fs.contract.hdfs.HDFSContract;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/** {@code tfs://hdfs@HOST:PORT/} keeps what HDFS promises. */
class HdfsContractTest extends CommonContract {
  @BeforeAll
  static void begin() throws IOException {
    HDFSContract.createCluster();
  }

  @AfterAll
  static void end() throws IOException {
    HDFSContract.destroyCluster();
  }

  static URI uri() {
    return URI.create("tfs://hdfs@" + HDFSContract.getCluster().getURI().getAuthority());
  }

  @Override
  AbstractFSContract contract(Configuration conf) {
    return new TracedContract(conf, "contract/hdfs.xml", uri(), new Path("/test"));
  }

  /** What YARN calls. */
  @Nested
  class Contexts extends FileContextMainOperationsBaseTest {
    @BeforeEach
    @Override
    public void setUp() throws Exception {
      fc = FileContext.getFileContext(uri(), new HdfsConfiguration());
      super.setUp();
    }

    @Override
    protected boolean listCorruptedBlocksSupported() {
      return true;
    }
  }

  @Nested
  class Append extends AbstractContractAppendTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class BulkDelete extends AbstractContractBulkDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Concat extends AbstractContractConcatTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class RootDirectory extends AbstractContractRootDirectoryTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class SetTimes extends AbstractContractSetTimesTest {
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
  class VectoredRead extends AbstractContractVectoredReadTest {
    VectoredRead(String buffers) {
      super(buffers);
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class PathHandle extends AbstractContractPathHandleTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Uploads extends UploadsContract {
    Uploads() {
      super(1024, true);
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }
}
