package io.iostrata.agent;

import java.lang.ref.WeakReference;

/** The object that a hot point met last in a thread, and the handle of its target. */
final class HotTarget {
  final long handle;

  /** The one before it, which has none itself. */
  final HotTarget before;

  /** Null where the target depends on no object. */
  private final WeakReference<Object> object;

  HotTarget(Object object, long handle, HotTarget before) {
    this.before = before == null ? null : new HotTarget(before);
    this.object = object == null ? null : new WeakReference<>(object);
    this.handle = handle;
  }

  private HotTarget(HotTarget alone) {
    handle = alone.handle;
    object = alone.object;
    before = null;
  }

  boolean isOf(Object other) {
    return object == null ? other == null : other != null && object.get() == other;
  }
}
