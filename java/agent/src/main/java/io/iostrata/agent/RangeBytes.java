package io.iostrata.agent;

import java.util.List;

/** {@code ranges(list)}: bytes of all FileRanges of a vectored read. */
final class RangeBytes extends Extractor {
  private static final Getter LENGTH = new Getter("getLength");

  @Override
  long of(Probe probe, Object ranges, Object unused) throws Throwable {
    long bytes = 0;
    for (Object range : (List<?>) ranges) {
      bytes += (Integer) LENGTH.of(range);
    }
    return bytes;
  }
}
