package io.iostrata.segment;

import java.util.Arrays;

/**
 * Finds the row of a key: the point remembers the key it had last, an open hash table the others.
 * On the heap of the thread, because a reader of keys in shared memory would have to trust them.
 */
final class RowIndex {
  private static final int FIRST_CAPACITY = 64;

  private long[] keys = new long[FIRST_CAPACITY];
  private long[] anchors = new long[FIRST_CAPACITY];
  private int[] rows = new int[FIRST_CAPACITY];
  private int used;

  /** Offset of the row in the segment, 0 none. */
  int find(PointLog point, long key, long anchor) {
    if (point.rowKey == key && point.rowAnchor == anchor && point.row != 0) {
      return point.row;
    }
    int row = rows[probe(key, anchor)];
    point.found(key, anchor, row);
    return row;
  }

  void add(PointLog point, long key, long anchor, int row) {
    if (++used * 2 > rows.length) {
      grow();
    }
    put(key, anchor, row);
    point.found(key, anchor, row);
  }

  /** For a segment without rows; the points forget theirs. */
  void clear(PointLog[] points) {
    Arrays.fill(rows, 0);
    used = 0;
    for (int i = 0; i < points.length; i++) {
      if (points[i] != null) {
        points[i].found(0, 0, 0);
      }
    }
  }

  private void put(long key, long anchor, int row) {
    int slot = probe(key, anchor);
    keys[slot] = key;
    anchors[slot] = anchor;
    rows[slot] = row;
  }

  private int probe(long key, long anchor) {
    int mask = rows.length - 1;
    long mixed = (key ^ anchor * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
    int slot = (int) (mixed >>> 40) & mask;
    while (rows[slot] != 0 && (keys[slot] != key || anchors[slot] != anchor)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldKeys = keys;
    long[] oldAnchors = anchors;
    int[] oldRows = rows;
    keys = new long[oldRows.length * 2];
    anchors = new long[oldRows.length * 2];
    rows = new int[oldRows.length * 2];
    for (int i = 0; i < oldRows.length; i++) {
      if (oldRows[i] != 0) {
        put(oldKeys[i], oldAnchors[i], oldRows[i]);
      }
    }
  }
}
