package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What one thread's calls leave in slots, rows and open spans. The clock says 1010, 1020, … */
class ThreadLogTest {
  /** What the target of a counted-only call is found by. */
  private static final Object FILE = "a stream";

  private static final long SPAN = 1L << 40;

  @TempDir Path dir;
  private Recorder recorder;
  private ThreadLog log;
  private long file;

  @BeforeEach
  void open() throws IOException {
    recorder = Recorder.open(Points.ticking(dir));
    log = recorder.thread();
    file = recorder.name(Schema.CATEGORY_FILE, "/a/b");
  }

  private TraceReader trace() throws IOException {
    return TraceReader.only(dir).peek();
  }

  @Test
  void aCallGetsASlotAndARow() throws IOException {
    log.enter(Points.JAVA_READ, file, 4096, 8192);
    log.exit(100, 0, 0);

    int id = (int) file;
    assertThat(trace().slots())
        .containsExactly(
            new TraceReader.Slot(
                1, 1, 1, "call", 1, 1010, 10, 100, 8192, 4096, 0, 0, SPAN + 1, 0, id));
    assertThat(trace().rows())
        .containsExactly(
            new TraceReader.Row(
                1, 1, 24, 7, 0, 0, 0, 1, 100, 4096, 0, 1, 10, 10, 10, 1020, 1, 0, 0, false));
    assertThat(trace().entry(id))
        .isEqualTo(new TraceReader.Entry(id, Schema.CATEGORY_FILE, "/a/b", 0, -1, -1));
    assertThat(trace().open()).isEmpty();
  }

  @Test
  void aRowKeepsSumsAndExtremes() throws IOException {
    log.enter(Points.JAVA_READ, file, 10, 0);
    log.enter(Points.HDFS_READ, file, 0, 0); // makes the outer call 30 long
    log.exit(0, 0, 0);
    log.exit(8, 0, 0);
    log.enter(Points.JAVA_READ, file, 20, 0);
    log.exit(9, 5, Schema.FLAG_ERRNO);

    assertThat(trace().rows())
        .filteredOn(row -> row.point() == Points.JAVA_READ)
        .containsExactly(
            new TraceReader.Row(
                1, 1, 24, 4, 0, 0, 0, 2, 17, 30, 1, 2, 40, 10, 30, 1060, 2, 0, 0, false));
  }

  @Test
  void sizeClassesAreRoundedDownLogarithms() throws IOException {
    for (long bytes : new long[] {-1, 0, 1, 2, 3, 4, 1 << 20, Long.MAX_VALUE}) {
      Points.call(log, Points.JAVA_READ, file, bytes);
    }
    assertThat(trace().rows())
        .extracting(TraceReader.Row::sizeClass, TraceReader.Row::count)
        .containsExactly(
            tuple(0, 2L), tuple(1, 1L), tuple(2, 2L), tuple(3, 1L), tuple(21, 1L), tuple(63, 1L));
  }

  @Test
  void aCallInACallOfItsLayerIsInner() throws IOException {
    log.enter(Points.HDFS_READ, file, 0, 0);
    log.enter(Points.JAVA_READ, file, 0, 0);
    log.enter(Points.UNUSED, file, 0, 0); // layer hdfs again
    log.exit(1, 0, 0);
    log.exit(1, 0, 0);
    log.exit(1, 0, 0);
    Points.call(log, Points.UNUSED, file, 1);

    assertThat(trace().slots())
        .extracting(TraceReader.Slot::point, TraceReader.Slot::flags, TraceReader.Slot::parent)
        .containsExactly(
            tuple(Points.UNUSED, Schema.FLAG_INNER, SPAN + 2),
            tuple(Points.JAVA_READ, 0, SPAN + 1),
            tuple(Points.HDFS_READ, 0, 0L),
            tuple(Points.UNUSED, 0, 0L));
    assertThat(trace().rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::flags, TraceReader.Row::count)
        .containsExactly(
            tuple(Points.UNUSED, Schema.FLAG_INNER, 1L),
            tuple(Points.JAVA_READ, 0, 1L),
            tuple(Points.HDFS_READ, 0, 1L),
            tuple(Points.UNUSED, 0, 1L));
  }

  @Test
  void aCallInACallOfItsFlowIsCovered() throws IOException {
    Recorder.Options options = Points.ticking(dir);
    options.directionOfPoint = new byte[] {0, 0, 1, 0, 0, 2};
    options.proc = 7;
    ThreadLog log = Recorder.open(options).thread();
    log.enter(Points.HDFS_READ, file, 0, 0);
    Points.call(log, Points.HDFS_READ, file, 1);
    Points.call(log, Points.UNUSED, file, 1); // same layer, other direction
    log.exit(1, 0, 0);

    int uid = ThisProcess.uid();
    long pid = ProcessHandle.current().pid();
    Path process = dir.resolve(uid + "/" + pid + "-0000000000000007");
    int covered = Schema.FLAG_INNER | Schema.FLAG_COVERED;
    TraceReader trace = new TraceReader(process).peek();
    assertThat(trace.slots())
        .extracting(TraceReader.Slot::flags)
        .containsExactly(covered, Schema.FLAG_INNER, 0);
    assertThat(trace.rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::flags)
        .containsExactly(
            tuple(Points.HDFS_READ, covered),
            tuple(Points.UNUSED, Schema.FLAG_INNER),
            tuple(Points.HDFS_READ, 0));
  }

  @Test
  void theTargetIsGivenOrThatOfTheEnclosingCall() throws IOException {
    long other = recorder.name(Schema.CATEGORY_SPILL, "/spill");
    log.enter(Points.HDFS_READ, file, 0, 0);
    log.enter(Points.JAVA_READ, 0, 0, 0);
    log.exit(1, 0, 0);
    log.enter(Points.JAVA_READ, 0, 0, 0);
    log.exit(other, 1, 0, 0);
    log.exit(1, 0, 0);

    assertThat(trace().slots())
        .extracting(TraceReader.Slot::targetId)
        .containsExactly((int) file, (int) other, (int) file);
    assertThat(trace().rows())
        .extracting(TraceReader.Row::category)
        .containsExactly(Schema.CATEGORY_FILE, Schema.CATEGORY_SPILL, Schema.CATEGORY_FILE);
  }

  @Test
  void anAnchorIsNamedByWhatItEnclosesAndItselfWritesBegin() throws IOException {
    log.enter(Points.READ_BLOCK, file, 0, 7);
    log.enter(Points.HDFS_READ, 0, 0, 0);
    Points.call(log, Points.JAVA_READ, 0, 1);
    log.exit(1, 0, 0);
    log.enterCounted(Points.COUNTED_WRITE, 0, null, 1, 1);
    log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
    log.exit(1, 0, 0);
    Points.call(log, Points.JAVA_READ, 0, 1);

    assertThat(trace().slots().get(0))
        .isEqualTo(
            new TraceReader.Slot(
                1, 1, 1, "begin", 3, 1010, 0, 0, 7, 0, 0, 0, SPAN + 1, 0, (int) file));
    assertThat(trace().rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::scope)
        .containsExactly(
            tuple(Points.JAVA_READ, SPAN + 1),
            tuple(Points.HDFS_READ, SPAN + 1),
            tuple(Points.COUNTED_WRITE, SPAN + 1),
            tuple(Points.READ_BLOCK, 0L),
            tuple(Points.JAVA_READ, 0L));
  }

  @Test
  void openSpansAreMirroredWhileTheyLast() throws IOException {
    log.enter(Points.HDFS_READ, file, 0, 0);
    log.enter(Points.HDFS_READ, 0, 0, 0);
    log.enter(Points.JAVA_READ, 0, 0, 0);
    log.drop();

    int id = (int) file;
    assertThat(trace().open())
        .containsExactly(
            new TraceReader.Open(SPAN + 1, 1010, 0, id, Points.HDFS_READ, 0),
            new TraceReader.Open(
                SPAN + 2, 1020, SPAN + 1, id, Points.HDFS_READ, Schema.FLAG_INNER));
    assertThat(log.depth()).isEqualTo(2);
    assertThat(log.openPoint()).isEqualTo(Points.HDFS_READ);
    assertThat(trace().slots()).isEmpty();
  }

  @Test
  void aCallDeeperThanTheHeaderIsRecordedAllTheSame() throws IOException {
    for (int i = 0; i < 100; i++) {
      log.enter(i % 2 == 0 ? Points.JAVA_READ : Points.HDFS_READ, file, 0, i);
    }
    assertThat(trace().open()).hasSize(Schema.SEGMENT_OPEN_CAPACITY);
    for (int i = 0; i < 100; i++) {
      log.exit(1, 0, 0);
    }
    assertThat(trace().open()).isEmpty();
    assertThat(trace().slots()).extracting(TraceReader.Slot::parent).startsWith(SPAN + 99);
    assertThat(trace().sum(TraceReader.Row::count)).isEqualTo(100);
  }

  @Test
  void exitsWithoutEntryAreCounted() throws IOException {
    log.exit(1, 0, 0);
    log.popContext();
    Points.call(log, Points.JAVA_READ, file, 1);
    log.exit(1, 0, 0);
    assertThat(log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false)).isFalse();

    assertThat(log.depth()).isZero();
    assertThat(log.openPoint()).isEqualTo(-1);
    assertThat(trace().page().counters().get(Schema.PROCESS_COUNTER_UNBALANCED)).isEqualTo(3);
    assertThat(trace().calls()).hasSize(1);
  }

  @Test
  void aCallBelongsToTheContextItStartedIn() throws IOException {
    recorder.processContext(recorder.context("r", "j", "t", null, null));
    log.enter(Points.HDFS_READ, file, 0, 0);
    log.pushContext(recorder.context("r", null, null, null, "a\tclient"));
    Points.call(log, Points.JAVA_READ, 0, 1);
    log.exit(1, 0, 0);
    recorder.processContext(recorder.context("r", "j", "t", "sort", null));
    log.popContext();
    Points.call(log, Points.UNUSED, file, 1);

    TraceReader trace = trace();
    assertThat(trace.slots())
        .extracting(TraceReader.Slot::kind, TraceReader.Slot::start, s -> context(trace, s))
        .containsExactly(
            tuple("context", 1010L, "r\tj\tt\t\t"),
            tuple("context", 1030L, "r\t\t\t\ta client"),
            tuple("call", 1040L, null),
            tuple("call", 1020L, null),
            tuple("context", 1070L, "r\tj\tt\t\t"),
            tuple("context", 1080L, "r\tj\tt\tsort\t"),
            tuple("call", 1090L, null));
    assertThat(trace.rows())
        .extracting(TraceReader.Row::point, row -> trace.name(row.context()))
        .containsExactly(
            tuple(Points.JAVA_READ, "r\t\t\t\ta client"),
            tuple(Points.HDFS_READ, "r\tj\tt\t\t"),
            tuple(Points.UNUSED, "r\tj\tt\tsort\t"));
  }

  private static String context(TraceReader trace, TraceReader.Slot slot) {
    return slot.kind().equals("context") ? trace.name(slot.targetId()) : null;
  }

  @Test
  void contextsPushedBeforeTheFirstCallComeFirst() throws IOException {
    int id = recorder.context("r", null, null, null, null);
    log.pushContext(id);
    Points.call(log, Points.JAVA_READ, file, 1);
    log.popContext();

    assertThat(trace().slots())
        .extracting(TraceReader.Slot::kind, TraceReader.Slot::targetId, TraceReader.Slot::start)
        .containsExactly(
            tuple("context", 0, 0L),
            tuple("context", id, 1010L),
            tuple("call", (int) file, 1020L),
            tuple("context", 0, 1040L));
  }

  @Test
  void countedOnlyCallsAreCountedExactlyAndTimedNowAndThen() throws IOException {
    for (int i = 0; i < 3000; i++) {
      log.enterCounted(Points.COUNTED_WRITE, file, FILE, 5, 4);
      log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
    }
    assertThat(trace().slots()).isEmpty();
    TraceReader.Row row = trace().rows().iterator().next();
    assertThat(row.count()).isEqualTo(3000);
    assertThat(row.bytes()).isEqualTo(12_000);
    assertThat(row.asked()).isEqualTo(15_000);
    // the first 32, then one of each block of 128, standing for all of them; each takes 10
    assertThat(row.timed()).isBetween(32L + 2968 / 128, 32L + 2968 / 128 + 1);
    assertThat(row.weight()).isEqualTo(32 + (row.timed() - 32) * 128);
    assertThat(row.timedDur()).isEqualTo(row.weight() * 10);
    assertThat(row.spread()).isZero();
    assertThat(trace().rows()).hasSize(1);
  }

  @Test
  void countedOnlyCallsThatDifferHaveRowsOfTheirOwn() throws IOException {
    for (int i = 0; i < 300; i++) {
      log.enterCounted(Points.COUNTED_WRITE, file, FILE, 0, 0);
      log.exitCounted(Points.COUNTED_WRITE, i % 3, i % 100 == 0);
    }
    assertThat(trace().rows())
        .extracting(TraceReader.Row::sizeClass, TraceReader.Row::count, TraceReader.Row::bytes)
        // three failed: one of 0 bytes, two whose bytes do not count
        .containsExactlyInAnyOrder(tuple(0, 102L, 0L), tuple(1, 99L, 99L), tuple(2, 99L, 198L));
    assertThat(trace().sum(TraceReader.Row::errors)).isEqualTo(3);
  }

  @Test
  void theTimeOfACountedOnlyCallIsItsOwnAndThatOfTheCallsInside() throws IOException {
    log.enterCounted(Points.COUNTED_WRITE, file, FILE, 1, 1); // at 1010
    log.enterCounted(
        Points.COUNTED_WRITE, file, FILE, 1, 1); // not timed: another one of the point is
    Points.call(log, Points.JAVA_READ, file, 1); // 10 long
    log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
    log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false); // at 1040

    assertThat(trace().rows())
        .extracting(
            TraceReader.Row::point,
            TraceReader.Row::flags,
            TraceReader.Row::timedDur,
            TraceReader.Row::inside)
        .containsExactly(
            tuple(Points.JAVA_READ, 0, 10L, 0L),
            tuple(Points.COUNTED_WRITE, Schema.FLAG_INNER, 0L, 10L),
            tuple(Points.COUNTED_WRITE, 0, 20L, 10L));
  }

  @Test
  void aCountedOnlyCallThatNeverEndsIsForgottenWithItsEnclosingCall() throws IOException {
    log.enter(Points.JAVA_READ, file, 0, 0);
    log.enterCounted(Points.COUNTED_WRITE, file, FILE, 1, 1);
    log.exit(1, 0, 0);
    log.enterCounted(Points.COUNTED_WRITE, file, FILE, 1, 1);
    log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);

    assertThat(trace().rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::flags, TraceReader.Row::count)
        .containsExactly(tuple(Points.JAVA_READ, 0, 1L), tuple(Points.COUNTED_WRITE, 0, 1L));
  }

  @Test
  void aFaultInsideIsCountedAndTheThreadOnlyCountsFromThen() throws IOException {
    Points.call(log, Points.JAVA_READ, file, 1);
    log.enter(99, file, 0, 0); // no such point: an exception inside
    for (int i = 0; i < 5; i++) {
      Points.call(log, Points.JAVA_READ, file, 1);
      log.enterCounted(Points.COUNTED_WRITE, file, FILE, 1, 1);
      log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
      log.pushContext(1);
      log.popContext();
    }

    assertThat(trace().page().counters()).containsExactly(0L, 10L, 0L, 1L, 0L, 0L);
    assertThat(trace().calls()).hasSize(1);
    assertThat(log.depth()).isZero();
  }

  @Test
  void aStackOverflowInsideReachesNobody() throws IOException {
    assertThat(overflow(0)).isPositive(); // only the application's own overflow ends it
    assertThat(trace().page().counters().get(Schema.PROCESS_COUNTER_FAULTS)).isLessThanOrEqualTo(1);
  }

  private int overflow(int depth) {
    log.enter(Points.JAVA_READ, file, 0, 0);
    try {
      return overflow(depth + 1);
    } catch (StackOverflowError e) {
      return depth;
    } finally {
      log.exit(0, 0, 0);
    }
  }
}
