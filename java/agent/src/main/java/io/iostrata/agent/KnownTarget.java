package io.iostrata.agent;

import java.lang.ref.WeakReference;

/** An object that a thread met at a point, and the handle of the target that it stands for. */
final class KnownTarget extends WeakReference<Object> {
  /** More points than this, a power of two, that a thread goes through in turns are looked up. */
  static final int POINTS = 64;

  /** Of a thread that has met none. */
  static final KnownTarget[] NONE = new KnownTarget[POINTS];

  final int point;
  final long handle;

  /** The target depends on no object. */
  final boolean ofNothing;

  /** The one before it, which has none itself: streams wrap each other, two take turns. */
  final KnownTarget before;

  KnownTarget(int point, Object object, long handle, KnownTarget before) {
    super(object);
    this.point = point;
    this.handle = handle;
    ofNothing = object == null;
    boolean alike = before != null && before.point == point;
    this.before = alike ? new KnownTarget(point, before.get(), before.handle, null) : null;
  }

  /** The object may have been collected since, so null says nothing by itself. */
  boolean isOf(int point, Object other) {
    return this.point == point && (other == null ? ofNothing : get() == other);
  }
}
