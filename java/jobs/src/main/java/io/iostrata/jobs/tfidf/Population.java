package io.iostrata.jobs.tfidf;

/** How many requests there are, and which class each has: attacks are spread evenly among them. */
final class Population {
  private static final int ATTACK_CLASSES = RequestClass.COUNT - 1;

  final long requests;
  final long attacks;

  Population(long requests, long attacks) {
    if (attacks < 0 || attacks > requests) {
      throw new IllegalArgumentException(attacks + " attacks of " + requests + " requests");
    }
    this.requests = requests;
    this.attacks = attacks;
  }

  /** The attack classes take turns, so that none has two requests more than another. */
  RequestClass classOf(long index) {
    long before = attacksBefore(index);
    if (attacksBefore(index + 1) == before) {
      return RequestClass.VALID;
    }
    return RequestClass.at(1 + (int) (before % ATTACK_CLASSES));
  }

  private long attacksBefore(long index) {
    return index * attacks / requests;
  }
}
