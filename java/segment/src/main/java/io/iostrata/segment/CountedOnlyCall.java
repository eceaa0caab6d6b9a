package io.iostrata.segment;

import java.lang.ref.WeakReference;

/**
 * A counted-only call that is open in a thread and, once it has ended, what the next of its kind
 * has in common with it: the same point, within calls of its layer and direction or not. What the
 * next one needs is at hand then, as long as the thread's context epoch is the same.
 */
final class CountedOnlyCall {
  /** Rows by the last bits of their size class: classes next to each other do not meet. */
  private static final int ROWS = 8;

  private static final long NEVER = -1;

  final PointLog point;

  /** {@link ThreadLog#contextEpoch} that what is remembered here holds in. */
  long contextEpoch = NEVER;

  boolean isOpen;
  long target; // handle
  long layersBefore;
  long asked;
  long bytes; // that AS_ENTERED means

  /** Time of calls recorded individually inside. */
  long inside;

  /** What the target was found by; null: it depends on no object. */
  private WeakReference<Object> object;

  private final RowLog[] rows = new RowLog[ROWS];

  CountedOnlyCall(PointLog point) {
    this.point = point;
  }

  /** The target is the one remembered. */
  boolean isOf(Object other) {
    WeakReference<Object> object = this.object;
    return object == null ? other == null : other != null && object.get() == other;
  }

  /** Forgets what no longer holds; {@code now}: the thread's context epoch. */
  void learn(Object found, long handle, long now) {
    if (!isOf(found)) {
      object = found == null ? null : new WeakReference<>(found);
    }
    target = handle;
    contextEpoch = now == ThreadLog.NOWHERE ? NEVER : now;
    for (int i = 0; i < ROWS; i++) {
      if (rows[i] != null) {
        rows[i] = null;
      }
    }
  }

  /** The row of calls of so many bytes, if it was met lately; else null. */
  RowLog row(long bytes) {
    int size = Row.sizeClass(bytes);
    RowLog row = rows[size & ROWS - 1];
    return row != null && row.sizeClass == size ? row : null;
  }

  void met(RowLog row) {
    rows[row.sizeClass & ROWS - 1] = row;
  }
}
