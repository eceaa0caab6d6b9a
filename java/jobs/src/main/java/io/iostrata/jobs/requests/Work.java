package io.iostrata.jobs.requests;

import java.io.Closeable;
import java.io.IOException;
import java.util.SplittableRandom;

/** Does one request; called by many threads. */
interface Work extends Closeable {
  /** Bytes read or written. */
  long perform(Operation operation, SplittableRandom random) throws IOException;

  /** What does the requests of one session, which closes it at its end. */
  default Work session() throws IOException {
    return this;
  }

  @Override
  default void close() throws IOException {}
}
