package io.iostrata.agent;

import java.util.List;

/** {@code store_files(list)}: the sizes of HBase's store files, which are open. */
final class StoreFilesBytes extends Extractor {
  private static final Getter READER = new Getter("getReader");
  private static final Getter LENGTH = new Getter("length");

  @Override
  long of(Probe probe, Object files, Object unused) throws Throwable {
    long sum = 0;
    if (files != null) {
      for (Object file : (List<?>) files) {
        Object reader = READER.of(file);
        sum += reader == null ? 0 : (Long) LENGTH.of(reader);
      }
    }
    return sum;
  }
}
