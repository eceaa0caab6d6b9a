package io.iostrata.agent;

/** {@code edit(entry)}: the size of the cells in an entry of HBase's WAL, with their lengths. */
final class EditBytes extends Extractor {
  private static final Getter EDIT = new Getter("getEdit");
  private static final Getter SIZE = new Getter("estimatedSerializedSizeOf");

  @Override
  long of(Probe probe, Object entry, Object unused) throws Throwable {
    return (Long) SIZE.of(EDIT.of(entry));
  }
}
