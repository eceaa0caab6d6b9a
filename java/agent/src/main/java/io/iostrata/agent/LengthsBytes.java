package io.iostrata.agent;

/** {@code lengths(lengths)}: their sum, of an array of longs. */
final class LengthsBytes extends Extractor {
  @Override
  long of(Probe probe, Object lengths, Object unused) {
    long sum = 0;
    for (long length : (long[]) lengths) {
      sum += length;
    }
    return sum;
  }
}
