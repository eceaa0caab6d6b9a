package io.iostrata.segment;

import java.util.Arrays;

/**
 * Finds the row of a key in an open hash table; points remember those they met last. On the heap of
 * the thread, because a reader of keys in shared memory would have to trust them.
 */
final class RowIndex {
  private static final int FIRST_CAPACITY = 64;

  private RowLog[] rows = new RowLog[FIRST_CAPACITY];
  private int used;

  /** Null when there is none. */
  RowLog find(long key, long scope) {
    return rows[probe(rows, key, scope)];
  }

  void add(RowLog row) {
    if (++used * 2 > rows.length) {
      RowLog[] more = new RowLog[rows.length * 2];
      for (int i = 0; i < rows.length; i++) {
        if (rows[i] != null) {
          more[probe(more, rows[i].key, rows[i].scope)] = rows[i];
        }
      }
      rows = more;
    }
    rows[probe(rows, row.key, row.scope)] = row;
  }

  /** For a segment without rows. */
  void clear() {
    if (rows.length > FIRST_CAPACITY) {
      rows = new RowLog[FIRST_CAPACITY];
    } else {
      Arrays.fill(rows, null);
    }
    used = 0;
  }

  int size() {
    return used;
  }

  private static int probe(RowLog[] rows, long key, long scope) {
    int mask = rows.length - 1;
    long mixed = (key ^ scope * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
    int slot = (int) (mixed >>> 40) & mask;
    while (rows[slot] != null && (rows[slot].key != key || rows[slot].scope != scope)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }
}
