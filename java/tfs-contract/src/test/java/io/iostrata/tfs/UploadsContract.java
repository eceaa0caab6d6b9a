package io.iostrata.tfs;

import org.apache.hadoop.fs.contract.AbstractContractMultipartUploaderTest;

/** What a file system promises of uploads in parts; LocalFileSystem says that it has none. */
abstract class UploadsContract extends AbstractContractMultipartUploaderTest {
  private final int bytes;
  private final boolean endsAtOnce;

  /**
   * @param bytes of a part, as many as the file system asks for
   * @param endsAtOnce an upload is no longer known when it is complete
   */
  UploadsContract(int bytes, boolean endsAtOnce) {
    this.bytes = bytes;
    this.endsAtOnce = endsAtOnce;
  }

  @Override
  protected int partSizeInBytes() {
    return bytes;
  }

  @Override
  protected boolean finalizeConsumesUploadIdImmediately() {
    return endsAtOnce;
  }

  @Override
  protected boolean supportsConcurrentUploadsToSamePath() {
    return true;
  }
}
