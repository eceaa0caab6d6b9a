package io.iostrata.agent;

import java.lang.ref.WeakReference;

/** {@link NameCache} for objects, which it does not keep alive. */
final class IdentityCache {
  private static final int SIZE = 256;

  private WeakReference<Object>[] keys;
  private long[] handles;

  /** {@link NameCache#ABSENT} when the object was not put here, or another took its place. */
  long get(Object key) {
    if (keys == null) {
      return NameCache.ABSENT;
    }
    int at = slot(key);
    WeakReference<Object> known = keys[at];
    return known != null && known.get() == key ? handles[at] : NameCache.ABSENT;
  }

  void put(Object key, long handle) {
    if (keys == null) {
      keys = newKeys();
      handles = new long[SIZE];
    }
    int at = slot(key);
    keys[at] = new WeakReference<>(key);
    handles[at] = handle;
  }

  @SuppressWarnings("unchecked") // an array of a generic type
  private static WeakReference<Object>[] newKeys() {
    return (WeakReference<Object>[]) new WeakReference<?>[SIZE];
  }

  private static int slot(Object key) {
    int hash = System.identityHashCode(key);
    return (hash ^ hash >>> 12) & SIZE - 1;
  }
}
