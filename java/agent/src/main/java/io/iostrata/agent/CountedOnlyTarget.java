package io.iostrata.agent;

import java.lang.ref.WeakReference;

/** The object that a counted-only point met last in a thread, and the handle of its target. */
final class CountedOnlyTarget {
  final long handle;

  /** The one before it, which has none itself. */
  final CountedOnlyTarget before;

  /** Null where the target depends on no object. */
  private final WeakReference<Object> object;

  CountedOnlyTarget(Object object, long handle, CountedOnlyTarget before) {
    this.before = before == null ? null : new CountedOnlyTarget(before);
    this.object = object == null ? null : new WeakReference<>(object);
    this.handle = handle;
  }

  private CountedOnlyTarget(CountedOnlyTarget alone) {
    handle = alone.handle;
    object = alone.object;
    before = null;
  }

  boolean isOf(Object other) {
    return object == null ? other == null : other != null && object.get() == other;
  }
}
