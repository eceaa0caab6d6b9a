package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code shuffle_block(id)}: a block of Spark's shuffle: shuffle_SHUFFLE_MAP_REDUCE. */
final class ShuffleBlockTarget extends Extractor {
  private static final Getter NAME = new Getter("name");

  @Override
  long of(Probe probe, Object block, Object unused) throws Throwable {
    return Hooks.recorder.name(Schema.CATEGORY_SHUFFLE, (String) NAME.of(block));
  }
}
