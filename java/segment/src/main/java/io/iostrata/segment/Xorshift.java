package io.iostrata.segment;

/** Marsaglia's xorshift64: random numbers that need neither an object nor a lock. */
public final class Xorshift {
  private Xorshift() {}

  /** The state after this one, which is the number drawn; neither is ever 0. */
  public static long next(long state) {
    long x = state;
    x ^= x << 13;
    x ^= x >>> 7;
    x ^= x << 17;
    return x;
  }
}
