package io.iostrata.agent;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;

/** What is known about objects, by identity; keeps none of them alive. For all threads. */
final class WeakIdentities<V> {
  private final HashMap<Key, V> values = new HashMap<>();
  private final ReferenceQueue<Object> gone = new ReferenceQueue<>();

  synchronized void put(Object object, V value) {
    for (Object key = gone.poll(); key != null; key = gone.poll()) {
      values.remove(key);
    }
    values.put(new Key(object, gone), value);
  }

  /** Null when nothing is known about the object. */
  synchronized V get(Object object) {
    return values.get(new Key(object, null));
  }

  synchronized void clear() {
    values.clear();
  }

  /** Equal when of the same object, or itself once that is gone. */
  private static final class Key extends WeakReference<Object> {
    private final int hash;

    Key(Object object, ReferenceQueue<Object> queue) {
      super(object, queue);
      hash = System.identityHashCode(object);
    }

    @Override
    public int hashCode() {
      return hash;
    }

    @Override
    public boolean equals(Object other) {
      if (this == other) {
        return true;
      }
      Object mine = get();
      return mine != null && other instanceof Key && mine == ((Key) other).get();
    }
  }
}
