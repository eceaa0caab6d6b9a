package io.iostrata.segment;

import java.nio.IntBuffer;
import java.nio.LongBuffer;

/**
 * What a thread knows of one of its counter rows: all that the row says and, of calls like the one
 * before, up to {@link #MOST} - 1 that it does not say yet. The row is only ever written.
 */
final class RowLog {
  /** Calls that a `kill -9` may cost a row, and one. */
  private static final int MOST = 16;

  final long key;
  final long scope;
  final int sizeClass;

  /** Offset in the segment. */
  private final int at;

  /** Among those that {@link SegmentChain#store} goes through. */
  boolean listed;

  private int pending;
  private int version;
  private long count;
  private long bytes;
  private long asked;
  private long errors;
  private long timed;
  private long timedDur;
  private long min;
  private long max;
  private long weight;
  private double spread;
  private long inside;

  RowLog(long key, long scope, int at) {
    this.key = key;
    this.scope = scope;
    this.at = at;
    sizeClass = Row.sizeClassOf(key);
  }

  /** One more call like the one before, not timed; the row says so some calls later. */
  void again(SegmentChain chain, long moreBytes, long moreAsked) {
    count++;
    bytes += moreBytes;
    asked += moreAsked;
    if (++pending == MOST) {
      store(chain.segment);
    } else if (!listed) {
      chain.list(this);
    }
  }

  /** Makes the row say what is known here. */
  @DontInline
  void store(Segment segment) {
    if (pending != 0) {
      storeCalls(segment.longs, at >> 3);
    }
  }

  /**
   * One more call.
   *
   * @param dur ns, or {@link Row#UNTIMED}
   * @param end when it ended
   */
  @DontInline
  void add(Segment segment, long moreBytes, long moreAsked, boolean error, long dur, long end) {
    open(segment);
    if (dur != Row.UNTIMED) {
      time(segment.longs, at >> 3, dur, end, 1);
    }
    call(segment, moreBytes, moreAsked, error);
  }

  /**
   * {@link #add} of a call whose time, if it has one, stands for others.
   *
   * @param more ns of calls recorded individually inside it, which {@code dur} leaves out
   */
  @DontInline
  void addSampled(
      Segment segment,
      long moreBytes,
      long moreAsked,
      boolean error,
      Sampler sampler,
      long dur,
      long end,
      long more) {
    open(segment);
    LongBuffer longs = segment.longs;
    int row = at >> 3;
    if (dur != Row.UNTIMED) {
      time(longs, row, dur, end, sampler.weight);
      spread += sampler.ended(dur);
      longs.put(row + (Schema.ROW_SPREAD >> 3), Double.doubleToRawLongBits(spread));
    }
    if (more != 0) {
      longs.put(row + (Schema.ROW_INSIDE >> 3), inside += more);
    }
    call(segment, moreBytes, moreAsked, error);
  }

  /** A sequence lock: odd while several fields change that belong together. */
  private void open(Segment segment) {
    segment.ints.put(at + Schema.ROW_VERSION >> 2, ++version);
    Fence.release();
  }

  private void time(LongBuffer longs, int row, long dur, long end, int of) {
    min = timed == 0 || dur < min ? dur : min;
    max = dur > max ? dur : max;
    longs.put(row + (Schema.ROW_TIMED >> 3), ++timed);
    longs.put(row + (Schema.ROW_TIMED_DUR >> 3), timedDur += dur * of);
    longs.put(row + (Schema.ROW_MIN >> 3), min);
    longs.put(row + (Schema.ROW_MAX >> 3), max);
    longs.put(row + (Schema.ROW_LAST_END >> 3), end);
    longs.put(row + (Schema.ROW_WEIGHT >> 3), weight += of);
  }

  private void call(Segment segment, long moreBytes, long moreAsked, boolean error) {
    count++;
    bytes += moreBytes;
    asked += moreAsked;
    if (error) {
      segment.longs.put(at + Schema.ROW_ERRORS >> 3, ++errors);
    }
    storeCalls(segment.longs, at >> 3);
    Fence.release();
    IntBuffer ints = segment.ints;
    ints.put(at + Schema.ROW_VERSION >> 2, ++version);
  }

  /** `count` last: a row cut short by `kill -9` never counts a call whose bytes are missing. */
  private void storeCalls(LongBuffer longs, int row) {
    pending = 0;
    longs.put(row + (Schema.ROW_BYTES >> 3), bytes);
    longs.put(row + (Schema.ROW_ASKED >> 3), asked);
    Fence.release();
    longs.put(row + (Schema.ROW_COUNT >> 3), count);
  }
}
