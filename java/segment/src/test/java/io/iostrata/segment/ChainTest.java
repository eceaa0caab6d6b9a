package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Full rings, full tables, the cap, and segments used again. Rings of 32, 128, 512, 2,048. */
class ChainTest {
  /** The smallest segment here: header, 8 + 15 rows, 32 slots. */
  private static final int FIRST = 2048 + 23 * Schema.ROW_SIZE + 32 * 64;

  private static final int COUNTERS_ONLY = 2048 + 23 * 96;

  @TempDir Path dir;
  private Recorder recorder;
  private TraceReader reader;
  private long file;

  private ThreadLog open(long capBytes) throws IOException {
    Recorder.Options options = Points.ticking(dir);
    options.ringSlots = 32;
    options.tableRows = 8;
    options.capBytes = capBytes;
    recorder = Recorder.open(options);
    reader = TraceReader.only(dir);
    file = recorder.name(Schema.CATEGORY_FILE, "/a");
    return recorder.thread();
  }

  private void calls(ThreadLog log, int count) {
    for (int i = 0; i < count; i++) {
      Points.call(log, Points.JAVA_READ, file, 1);
    }
  }

  @Test
  void aFullRingIsFollowedByALargerOne() throws IOException {
    ThreadLog log = open(1 << 20);
    log.enter(Points.HDFS_READ, file, 0, 0);
    calls(log, 1000);

    reader.peek();
    assertThat(reader.calls())
        .extracting(TraceReader.Slot::span)
        .doesNotHaveDuplicates()
        .hasSize(1000);
    long parent = (1L << 40) + 1;
    assertThat(reader.calls()).extracting(TraceReader.Slot::parent).containsOnly(parent);
    assertThat(reader.calls())
        .extracting(TraceReader.Slot::segment)
        .containsSubsequence(1, 2, 3, 4)
        .filteredOn(segment -> segment == 1)
        .hasSize(31);
    assertThat(reader.open()).extracting(TraceReader.Open::span).containsExactly(parent);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(1000);
    assertThat(reader.gaps()).isZero();
  }

  @Test
  void aSlowConsumerLosesNothing() throws Exception {
    ThreadLog log = open(1 << 24);
    for (int i = 0; i < 50; i++) {
      calls(log, 997);
      reader.poll();
    }
    assertThat(reader.calls()).hasSize(50 * 997).isSortedAccordingTo(this::byStart);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(50 * 997);
  }

  private int byStart(TraceReader.Slot a, TraceReader.Slot b) {
    return Long.compare(a.start(), b.start());
  }

  @Test
  void withoutRoomDetailIsAGapAndContextsAreRestated() throws IOException {
    ThreadLog log = open(FIRST * 8 / 7 + 8);
    calls(log, 30);
    int first = recorder.context("r", "first", null, null, null);
    int second = recorder.context("r", "second", null, null, null);
    log.pushContext(first); // slot 31; the last one is kept for a gap
    calls(log, 6); // lost
    log.popContext(); // lost
    log.pushContext(second); // lost
    calls(log, 4); // lost
    assertThat(reader.poll().slots()).hasSize(31);
    calls(log, 1);

    List<TraceReader.Slot> after = reader.poll().slots().subList(31, 35);
    // 30 calls take 1010..1600, the contexts 1610 and 1740, 1750; 10 ns each and between.
    assertThat(after)
        .extracting(
            TraceReader.Slot::kind,
            TraceReader.Slot::start,
            TraceReader.Slot::dur,
            TraceReader.Slot::bytes,
            TraceReader.Slot::targetId)
        .containsExactly(
            tuple("gap", 1620L, 210L, 10L, 0),
            tuple("context", 1740L, 0L, 0L, 0),
            tuple("context", 1750L, 0L, 0L, second),
            tuple("call", 1840L, 10L, 1L, (int) file));
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(30 + 6 + 4 + 1);
    assertThat(reader.peek().gaps()).isEqualTo(10);
    // the cap is no refusal: what it costs is in the gaps
    assertThat(reader.page().counters().get(Schema.PROCESS_COUNTER_REFUSED_SEGMENTS)).isZero();
  }

  @Test
  void whatIsLostIsToldWhereItWasCounted() throws IOException {
    ThreadLog log = open(FIRST * 8 / 7 + 8);
    calls(log, 41);
    recorder.close(); // no room ever came: the gap is in the slot that was kept for it
    List<TraceReader.Slot> slots = reader.poll().slots();
    assertThat(slots.get(slots.size() - 1))
        .extracting(TraceReader.Slot::kind, TraceReader.Slot::bytes)
        .containsExactly("gap", 10L);
    assertThat(reader.gaps()).isEqualTo(10);
  }

  @Test
  void aFullTableIsFollowedByALargerOne() throws IOException {
    ThreadLog log = open(1 << 20);
    for (int i = 0; i < 40; i++) {
      Points.call(log, Points.JAVA_READ, file, 1L << i);
    }
    reader.peek();
    assertThat(reader.rows())
        .extracting(TraceReader.Row::sizeClass, TraceReader.Row::count)
        .hasSize(40)
        .doesNotHaveDuplicates();
    assertThat(reader.rows()).filteredOn(row -> row.segment() == 1).hasSize(8);
    assertThat(reader.collapsed()).isZero();
  }

  /** Calls of as many sizes, each of which has a row of its own; the ring never fills. */
  private void sizes(ThreadLog log, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      Points.call(log, Points.JAVA_READ, file, 1L << i);
      reader.poll();
    }
  }

  @Test
  void aRecordingBeginsWithoutTheRowsOfThoseBefore() throws IOException {
    ThreadLog log = open(1 << 20);
    int whose = recorder.context("r", "client", null, null, null);
    log.pushContext(whose);
    for (int i = 0; i < 5; i++) {
      sizes(log, 40); // 8 rows, then in a segment of 32
      log.recordingBegins();
      calls(log, 1);
      List<TraceReader.Slot> seen = reader.poll().calls();
      TraceReader.Slot last = seen.get(seen.size() - 1);
      assertThat(seen.subList(0, seen.size() - 1))
          .noneMatch(slot -> slot.segment() == last.segment() && slot.epoch() == last.epoch());
    }
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(5 * 41);
    assertThat(reader.calls()).hasSize(5 * 41).isSortedAccordingTo(this::byStart);
    assertThat(reader.calls()).extracting(TraceReader.Slot::span).doesNotHaveDuplicates();
    assertThat(reader.gaps()).isZero();
    long most = recorder.pool.usedBytes();
    for (int i = 0; i < 5; i++) {
      sizes(log, 40);
      log.recordingBegins();
    }
    assertThat(recorder.pool.usedBytes()).isEqualTo(most);
  }

  @Test
  void aRecordingGoesOnInASegmentWithRoom() throws IOException {
    ThreadLog log = open(1 << 20);
    for (int i = 0; i < 5; i++) {
      sizes(log, 8);
      log.recordingBegins();
    }
    calls(log, 1);
    assertThat(reader.poll().calls()).extracting(TraceReader.Slot::segment).containsOnly(1);
    assertThat(reader.calls()).hasSize(5 * 8 + 1);
    assertThat(reader.rows()).hasSize(8);
  }

  @Test
  void aRecordingGoesOnInAFullSegmentWhereThereIsNoOther() throws IOException {
    ThreadLog log = open(3 * FIRST);
    calls(log, 1);
    for (int i = 1; i < 20; i++) {
      Points.call(log, Points.JAVA_READ, file, 1L << i); // no reader: nothing is drained
    }
    log.recordingBegins(); // the cap is reached
    calls(log, 20);
    assertThat(reader.peek().sum(TraceReader.Row::count)).isEqualTo(40);
    assertThat(reader.page().counters()).containsOnly(0L);
  }

  @Test
  void withoutRoomForRowsCallsAreFoldedByPointAndInner() throws IOException {
    ThreadLog log = open(FIRST * 8 / 7 + 8);
    for (int i = 0; i < 8; i++) {
      Points.call(log, Points.JAVA_READ, file, 1L << i);
    }
    log.enter(Points.HDFS_READ, file, 0, 0);
    for (int i = 8; i < 30; i++) {
      Points.call(log, Points.JAVA_READ, file, 1L << i);
    }
    Points.call(log, Points.UNUSED, file, 1);
    log.exit(1, 0, 0);

    reader.peek();
    assertThat(reader.rows())
        .filteredOn(row -> row.sizeClass() == Schema.SIZE_CLASS_FOLD)
        .extracting(
            TraceReader.Row::point,
            TraceReader.Row::category,
            TraceReader.Row::flags,
            TraceReader.Row::count,
            TraceReader.Row::bytes)
        .containsExactly(
            tuple(Points.JAVA_READ, 0, 0, 22L, (1L << 30) - (1 << 8)),
            tuple(Points.UNUSED, 0, Schema.FLAG_INNER, 1L, 1L),
            tuple(Points.HDFS_READ, 0, 0, 1L, 1L));
    assertThat(reader.collapsed()).isEqualTo(24);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(32);
  }

  @Test
  void drainedSegmentsAreUsedAgain() throws IOException {
    ThreadLog log = open(16 * FIRST);
    for (int i = 0; i < 300; i++) {
      calls(log, 100);
      reader.poll();
    }
    assertThat(reader.calls()).extracting(TraceReader.Slot::span).doesNotHaveDuplicates();
    assertThat(reader.calls()).hasSize(300 * 100);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(300 * 100);
    assertThat(recorder.pool.usedBytes()).isLessThanOrEqualTo(16 * FIRST);
  }

  @Test
  void segmentsOfDeadThreadsServeOthers() throws Exception {
    open(4 * FIRST);
    for (int i = 0; i < 50; i++) {
      Thread thread = new Thread(() -> calls(recorder.thread(), 10), "worker-" + i);
      thread.start();
      thread.join();
      recorder.sealDeadThreads();
      reader.poll();
    }
    assertThat(reader.calls()).hasSize(500);
    assertThat(reader.calls()).extracting(TraceReader.Slot::segment).containsOnly(1);
    assertThat(reader.calls()).extracting(TraceReader.Slot::epoch).contains(1, 50);
    assertThat(reader.calls().stream().map(TraceReader.Slot::tid).distinct()).hasSize(50);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(500);
    assertThat(reader.page().counters()).containsExactly(0L, 0L, 0L, 0L, 0L, 0L);
  }

  @Test
  void beyondTheCapAThreadHasCountersOnlyThenNothingButTheCount() throws Exception {
    open((FIRST + COUNTERS_ONLY) * 8 / 7);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Thread thread = new Thread(() -> calls(recorder.thread(), 10));
      thread.start();
      thread.join();
      threads.add(thread);
    }
    reader.peek();
    assertThat(reader.calls()).hasSize(10);
    assertThat(reader.rows())
        .extracting(TraceReader.Row::segment, TraceReader.Row::count)
        .containsExactly(tuple(1, 10L), tuple(2, 10L));
    assertThat(reader.gaps()).isEqualTo(10);
    assertThat(reader.page().counters().get(Schema.PROCESS_COUNTER_LOST_CALLS)).isEqualTo(10);
  }

  @Test
  void aRefusedThreadGetsASegmentLaterAlsoInTheMiddleOfACall() throws Exception {
    open(FIRST * 8 / 7 + 8);
    Thread first = new Thread(() -> calls(recorder.thread(), 1));
    first.start();
    first.join();
    ThreadLog log = recorder.thread();
    log.enter(Points.HDFS_READ, file, 0, 0);
    calls(log, 10); // lost: the one segment is taken
    recorder.sealDeadThreads();
    reader.poll();
    calls(log, SegmentChain.RETRY_CALLS);
    log.exit(1, 0, 0);

    reader.poll();
    long lost = reader.page().counters().get(Schema.PROCESS_COUNTER_LOST_CALLS);
    assertThat(lost).isBetween(10L, 10L + SegmentChain.RETRY_CALLS);
    assertThat(reader.sum(TraceReader.Row::count) + lost)
        .isEqualTo(1 + 10 + SegmentChain.RETRY_CALLS + 1);
    TraceReader.Slot outer = reader.calls().get(reader.calls().size() - 1);
    assertThat(outer.span()).isNotZero();
    assertThat(reader.calls().get(1).parent()).isEqualTo(outer.span());
  }
}
