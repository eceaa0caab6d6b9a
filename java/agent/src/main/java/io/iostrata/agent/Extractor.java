package io.iostrata.agent;

/**
 * Finds out what a call acts on, whom it belongs to, or what it tells. May throw: the hook that
 * called switches the point off then.
 */
abstract class Extractor {
  /**
   * A handle of {@code Recorder.name} for a target, an id of {@code Recorder.context} for a
   * context; of an effect whose operation another point adds up, bytes, else nothing.
   *
   * @param a first value that the point names, may be null
   * @param b second value, null when the point names one only
   */
  long of(Probe probe, Object a, Object b) throws Throwable {
    return 0;
  }

  /**
   * {@link #of} gives the same for the first value whenever it is asked, whatever the second one
   * is: hooks need not ask again while they meet the same object.
   */
  boolean isOfFirst(Object a) {
    return false;
  }

  /**
   * What a point of mode {@code replace} returns instead: an object of the same class.
   *
   * @param returned never null
   */
  Object instead(Probe probe, Object returned) throws Throwable {
    return returned;
  }
}
