package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is recorded individually, and that the rest is still in the sums. */
class DetailTest {
  private static final long SPAN = 1L << 40;

  @TempDir Path dir;
  private Recorder recorder;
  private ThreadLog log;
  private long xml;
  private long block;

  @BeforeEach
  void open() throws IOException {
    recorder = Recorder.open(Points.ticking(dir));
    log = recorder.thread();
    xml = recorder.name(Schema.CATEGORY_XML, "/a.xml");
    block = recorder.name(Schema.CATEGORY_BLK, "/blk_1");
  }

  private TraceReader trace() throws IOException {
    return TraceReader.only(dir).peek();
  }

  @Test
  void aLevelKeepsItsCategories() throws IOException {
    recorder.detail.level(Schema.LEVEL_PHASE);
    Points.call(log, Points.JAVA_READ, xml, 1);
    Points.call(log, Points.JAVA_READ, block, 2);
    recorder.detail.level(Schema.LEVEL_RECORD);
    Points.call(log, Points.JAVA_READ, xml, 4);

    assertThat(trace().calls()).extracting(TraceReader.Slot::bytes).containsExactly(2L, 4L);
    assertThat(trace().sum(TraceReader.Row::count)).isEqualTo(3);
    assertThat(trace().sum(TraceReader.Row::bytes)).isEqualTo(7);
  }

  @Test
  void whatIsNotKnownKeepsAll() throws IOException {
    recorder.detail.level(0);
    Points.call(log, Points.JAVA_READ, xml, 1);
    recorder.detail.level(99);
    Points.call(log, Points.JAVA_READ, xml, 1);
    assertThat(trace().calls()).hasSize(2);
  }

  @Test
  void readsOfJarsAreOnlySummedWithinABudget() throws IOException {
    long jar = recorder.name(Schema.CATEGORY_JARS, "/a.jar");
    recorder.detail.budgeted(true);
    Points.call(log, Points.JAVA_READ, jar, 1);
    Points.call(log, Points.JAVA_READ, xml, 2);
    Points.call(log, 0, jar, 4); // no read and no write: not in SUMMED_UNDER_BUDGET
    recorder.detail.budgeted(false);
    Points.call(log, Points.JAVA_READ, jar, 8);

    assertThat(trace().calls())
        .extracting(TraceReader.Slot::bytes)
        .containsExactlyInAnyOrder(2L, 4L, 8L);
    assertThat(trace().sum(TraceReader.Row::bytes)).isEqualTo(15);
  }

  @Test
  void aScopeIsAlwaysRecorded() throws IOException {
    recorder.detail.level(Schema.LEVEL_JOB);
    recorder.detail.summed(Points.READ_BLOCK, true);
    Points.call(log, Points.READ_BLOCK, xml, 1);
    assertThat(trace().calls()).hasSize(1);
  }

  @Test
  void callsInsideOneThatIsOnlySummedHangFromTheOneAround() throws IOException {
    recorder.detail.summed(Points.HDFS_READ, true);
    log.enter(Points.READ_BLOCK, block, 0, 0);
    log.enter(Points.HDFS_READ, 0, 0, 0);
    log.enter(Points.UNUSED, 0, 0, 0); // of the same layer
    log.enter(Points.JAVA_READ, 0, 0, 0);

    assertThat(log.cause().span).isEqualTo(SPAN + 3);
    assertThat(trace().open())
        .extracting(TraceReader.Open::span, TraceReader.Open::parent, TraceReader.Open::flags)
        .containsExactly(
            tuple(SPAN + 1, 0L, 0),
            tuple(SPAN + 2, SPAN + 1, Schema.FLAG_INNER),
            tuple(SPAN + 3, SPAN + 2, 0));
    for (int i = 0; i < 4; i++) {
      log.exit(1, 0, 0);
    }
    assertThat(trace().open()).isEmpty();
    assertThat(trace().calls())
        .extracting(TraceReader.Slot::point, TraceReader.Slot::parent)
        .containsExactly(
            tuple(Points.JAVA_READ, SPAN + 2),
            tuple(Points.UNUSED, SPAN + 1),
            tuple(Points.READ_BLOCK, 0L));
    assertThat(trace().rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::scope)
        .contains(tuple(Points.HDFS_READ, SPAN + 1));
  }

  @Test
  void onlySummedCallsHaveSampledClocks() throws IOException {
    recorder.detail.summed(Points.JAVA_READ, true);
    for (int i = 0; i < 1000; i++) {
      Points.call(log, Points.JAVA_READ, xml, 1);
    }
    TraceReader.Row row = trace().rows().iterator().next();
    assertThat(row.count()).isEqualTo(1000);
    assertThat(row.timed()).isBetween(32L, 50L);
    assertThat(row.timedDur()).isEqualTo(10 * row.weight());
    assertThat(trace().slots()).isEmpty();
  }

  @Test
  void droppedCallsAreGoneKeptOrNot() throws IOException {
    recorder.detail.summed(Points.HDFS_READ, true);
    log.enter(Points.READ_BLOCK, block, 0, 0);
    log.enter(Points.HDFS_READ, 0, 0, 0);
    log.drop();
    log.drop();
    assertThat(trace().open()).isEmpty();
    Points.call(log, Points.HDFS_READ, block, 1);
    assertThat(trace().rows())
        .extracting(TraceReader.Row::point, TraceReader.Row::timed)
        .containsExactly(tuple(Points.HDFS_READ, 1L));
  }

  @Test
  void aThreadThatEndsHasSaidAll() throws Exception {
    recorder.detail.summed(Points.JAVA_READ, true);
    Thread thread =
        new Thread(
            () -> {
              ThreadLog own = recorder.thread();
              own.enter(Points.READ_BLOCK, block, 0, 0);
              for (int i = 0; i < 100; i++) {
                Points.call(own, Points.JAVA_READ, block, 1);
              }
            });
    thread.start();
    thread.join();
    long before = trace().sum(TraceReader.Row::count);
    assertThat(before).isBetween(100L - 15, 100L); // a kill may cost 15
    recorder.sealDeadThreads();
    assertThat(trace().sum(TraceReader.Row::count)).isEqualTo(100);
  }
}
