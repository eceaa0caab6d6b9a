package io.iostrata.agent;

/** The handles of the names that one thread met last: direct-mapped, so that a hit is a load. */
final class NameCache {
  static final long ABSENT = -1;

  private static final int SIZE = 256;

  private String[] names;
  private long[] handles;

  /** {@link #ABSENT} when the name was not put here, or another took its place. */
  long get(String name) {
    if (names == null) {
      return ABSENT;
    }
    int at = slot(name);
    String known = names[at];
    return known != null && (known == name || known.equals(name)) ? handles[at] : ABSENT;
  }

  void put(String name, long handle) {
    if (names == null) {
      names = new String[SIZE];
      handles = new long[SIZE];
    }
    int at = slot(name);
    names[at] = name;
    handles[at] = handle;
  }

  private static int slot(String name) {
    int hash = name.hashCode();
    return (hash ^ hash >>> 16) & SIZE - 1;
  }
}
