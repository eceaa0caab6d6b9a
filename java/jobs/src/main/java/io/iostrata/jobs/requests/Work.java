package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.SplittableRandom;

/** Does one request; called by many threads. */
interface Work {
  /** Bytes read or written. */
  long perform(Operation operation, SplittableRandom random) throws IOException;
}
