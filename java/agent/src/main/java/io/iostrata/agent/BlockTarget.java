package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code block(block)}: an ExtendedBlock of HDFS; the entry's name is its pool. */
final class BlockTarget extends Extractor {
  private static final Getter ID = new Getter("getBlockId");
  private static final Getter GENERATION = new Getter("getGenerationStamp");
  private static final Getter POOL = new Getter("getBlockPoolId");

  @Override
  long of(Probe probe, Object block, Object unused) throws Throwable {
    if (block == null) {
      return 0;
    }
    long id = (Long) ID.of(block);
    long generation = (Long) GENERATION.of(block);
    return Hooks.recorder.name(
        Schema.CATEGORY_BLK, String.valueOf(POOL.of(block)), 0, id, generation);
  }
}
