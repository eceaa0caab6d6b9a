package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.io.File;

/**
 * {@code netty_file(region)}: the file of Netty's DefaultFileRegion; of one that was made of a
 * channel, nobody knows its name.
 */
final class NettyFile extends Extractor {
  private final FieldOf file = new FieldOf("f");

  @Override
  long of(Probe probe, Object region, Object unused) throws Throwable {
    Object known = region == null ? null : file.of(region);
    return known == null
        ? Hooks.recorder.name(Schema.CATEGORY_FILE, "")
        : FileTarget.ofPath(probe, ((File) known).getPath());
  }
}
