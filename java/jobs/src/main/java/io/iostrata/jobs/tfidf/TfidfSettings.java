package io.iostrata.jobs.tfidf;

import org.apache.hadoop.conf.Configuration;

/**
 * What a user asked for, as it stands in the configuration of clients and tasks; all must be there.
 */
final class TfidfSettings {
  private static final String PREFIX = "iostrata.tfidf.";
  private static final int CHECKSUM = 512; // a block is a multiple of it

  final long seed;
  final Population training;
  final Population classified;
  final long split; // bytes of a block and of a map
  final int buffer; // bytes, of a map that reads the model; 0: none

  TfidfSettings(Configuration from) {
    seed = number(from, "seed");
    training = new Population(number(from, "training"), number(from, "training_attacks"));
    classified = new Population(number(from, "requests"), number(from, "request_attacks"));
    split = (number(from, "split") + CHECKSUM - 1) / CHECKSUM * CHECKSUM;
    buffer = (int) number(from, "model_buffer");
  }

  /** Others than those that are classified. */
  RequestGenerator trainingGenerator() {
    return new RequestGenerator(training, 2 * seed);
  }

  RequestGenerator generator() {
    return new RequestGenerator(classified, 2 * seed + 1);
  }

  private static long number(Configuration from, String name) {
    String found = from.get(PREFIX + name);
    if (found == null) {
      throw new IllegalArgumentException(PREFIX + name + " is missing");
    }
    return Long.parseLong(found);
  }
}
