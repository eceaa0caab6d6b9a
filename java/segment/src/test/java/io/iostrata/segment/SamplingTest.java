package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that are kept whole or not at all, and what how many are reported to a reader. */
class SamplingTest {
  private static final int QUARTER = Detail.ALL_REQUESTS / 4;
  private static final int TASK = Points.COUNT;

  @TempDir Path dir;
  private Recorder recorder;
  private ThreadLog log;
  private long block;

  @BeforeEach
  void open() throws IOException {
    recorder = open(dir, 7);
    log = recorder.thread();
    block = recorder.name(Schema.CATEGORY_BLK, "/blk_1");
  }

  /** The points of the tests and a task. */
  private static Recorder open(Path dir, long seed) throws IOException {
    Recorder.Options options = Points.ticking(dir);
    byte[] layers = Arrays.copyOf(options.layerOfPoint, TASK + 1);
    layers[TASK] = Schema.LAYER_TASK;
    options.layerOfPoint = layers;
    options.scopeOfPoint = Arrays.copyOf(options.scopeOfPoint, TASK + 1);
    options.scopeOfPoint[TASK] = true;
    options.beginOfPoint = null;
    options.seed = seed;
    return Recorder.open(options);
  }

  private TraceReader trace() throws IOException {
    return TraceReader.only(dir).peek();
  }

  private List<TraceReader.Slot> calls(int point) throws IOException {
    return trace().calls().stream().filter(c -> c.point() == point).collect(Collectors.toList());
  }

  /** What context slots said of the requests after them. */
  private List<Long> reported() throws IOException {
    return trace().slots().stream()
        .filter(slot -> slot.kind().equals("context"))
        .map(TraceReader.Slot::asked)
        .collect(Collectors.toList());
  }

  private static Cause carried(Cause cause) {
    return new Cause(0, cause.trace, 0x8888, cause.span, 0, cause.sampling);
  }

  @Test
  void aRequestIsKeptWithAllThatItCauses() throws IOException {
    recorder.detail.sampling(QUARTER);
    int kept = 0;
    for (int i = 0; i < 1000; i++) {
      log.enter(Points.READ_BLOCK, block, 0, 0);
      Cause cause = log.cause();
      Points.call(log, Points.JAVA_READ, 0, 1);
      log.exit(0, 0, 0);
      log.pushContext(Points.HDFS_READ, 0, carried(cause));
      Points.call(log, Points.HDFS_READ, block, 1);
      log.popContext();
      kept += cause.sampling > 0 ? 1 : 0;
    }
    // 5 deviations of a binomial
    assertThat(kept).isBetween(182, 318);
    assertThat(calls(Points.HDFS_READ)).hasSize(kept);
    assertThat(trace().calls()).hasSize(3 * kept);
    assertThat(trace().sum(TraceReader.Row::count)).isEqualTo(3000);
    assertThat(reported()).containsOnly(0L, (long) QUARTER); // 0 before the first was drawn
  }

  @Test
  void belowATaskEachCallBeginsARequestAndTheTaskIsKept() throws IOException {
    recorder.detail.sampling(QUARTER);
    log.enter(TASK, 0, 0, -1);
    assertThat(log.cause().sampling).isZero();
    for (int i = 0; i < 1000; i++) {
      log.enter(Points.HDFS_READ, block, 0, 0);
      log.enter(TASK, 0, 0, -1); // say, a spill: kept, and what it encloses begins requests
      Points.call(log, Points.JAVA_READ, block, 1);
      log.exit(0, 0, 0);
      log.exit(0, 0, 0);
    }
    log.exit(0, 0, 0);
    assertThat(calls(TASK)).hasSize(1001);
    assertThat(calls(Points.HDFS_READ)).hasSizeBetween(182, 318);
    assertThat(calls(Points.JAVA_READ)).hasSizeBetween(182, 318);
    List<Long> outer = parents(Points.JAVA_READ);
    assertThat(calls(TASK)).extracting(TraceReader.Slot::span).containsAll(outer);
    // both, one of them, none: they are independent
    List<Long> ofBoth = spans(Points.HDFS_READ);
    assertThat(calls(TASK))
        .filteredOn(c -> ofBoth.contains(c.parent()) && outer.contains(c.span()))
        .hasSizeBetween(25, 105);
  }

  private List<Long> parents(int point) throws IOException {
    return calls(point).stream().map(TraceReader.Slot::parent).collect(Collectors.toList());
  }

  private List<Long> spans(int point) throws IOException {
    return calls(point).stream().map(TraceReader.Slot::span).collect(Collectors.toList());
  }

  @Test
  void workHandedOverByATaskBeginsRequestsByCallsOfItsOwn() throws IOException {
    recorder.detail.sampling(QUARTER);
    log.enter(TASK, 0, 0, -1);
    Cause cause = log.cause();
    log.exit(0, 0, 0);
    assertThat(cause.saysNothing()).isFalse();
    log.pushContext(0, 0, carried(cause));
    for (int i = 0; i < 1000; i++) {
      Points.call(log, Points.HDFS_READ, block, 1);
    }
    log.popContext();
    assertThat(calls(Points.HDFS_READ)).hasSizeBetween(182, 318);
    assertThat(reported()).containsSubsequence(0L, (long) QUARTER, 0L);
  }

  @Test
  void aReaderIsToldWhenOtherRequestsAreInTheSample() throws IOException {
    Points.call(log, Points.JAVA_READ, block, 1);
    assertThat(reported()).isEmpty();
    int[] samplings = {QUARTER, QUARTER, 2 * QUARTER, Detail.ALL_REQUESTS};
    for (int sampling : samplings) {
      recorder.detail.sampling(sampling);
      for (int i = 0; i < 100; i++) {
        Points.call(log, Points.JAVA_READ, block, 1);
      }
    }
    assertThat(reported()).containsExactly((long) QUARTER, 2L * QUARTER, 0L);
  }

  /** All of it belongs to the request that began first, whatever is asked for meanwhile. */
  @Test
  void aRequestThatIsOpenStaysWhatItIs() throws IOException {
    log.enter(Points.READ_BLOCK, block, 0, 0);
    recorder.detail.sampling(1);
    Cause other = new Cause(0, 1, 0x8888, 1, 0, -QUARTER);
    log.pushContext(0, 0, other);
    Points.call(log, Points.JAVA_READ, block, 1);
    log.popContext();
    log.exit(1, 0, 0);
    assertThat(trace().calls()).hasSize(2);
    assertThat(reported()).containsExactly(0L, 0L);
  }

  /** What is kept of a request hangs together: from its first call, or from what caused that. */
  @Test
  void theFirstCallOfASampledRequestIsKeptAtEachLevel() throws IOException {
    recorder.detail.level(Schema.LEVEL_JOB);
    recorder.detail.sampling(QUARTER);
    long xml = recorder.name(Schema.CATEGORY_XML, "/a.xml");
    for (int i = 0; i < 1000; i++) {
      log.enter(Points.HDFS_READ, xml, 0, 0);
      Points.call(log, Points.UNUSED, xml, 1);
      Points.call(log, Points.JAVA_READ, block, 1);
      Points.call(log, Points.JAVA_READ, block, 1);
      log.exit(0, 0, 0);
    }
    List<Long> roots = spans(Points.HDFS_READ);
    assertThat(roots).hasSizeBetween(182, 318);
    assertThat(calls(Points.UNUSED)).isEmpty();
    assertThat(calls(Points.JAVA_READ)).hasSize(2 * roots.size());
    assertThat(parents(Points.JAVA_READ)).hasSameElementsAs(roots);
  }

  @Test
  void aThreadWithoutAnythingToSayIsNoCause() {
    assertThat(log.cause().saysNothing()).isTrue();
    recorder.detail.sampling(1);
    log.enter(Points.READ_BLOCK, block, 0, 0);
    assertThat(log.cause()).extracting("span", "sampling").isEqualTo(List.of(0L, -1));
    assertThat(log.cause().saysNothing()).isFalse();
  }

  /**
   * A DataNode begins a thread per block: were their first draws alike, so would be their fates.
   * Pairs of neighbours are as often alike as chance has it.
   */
  @Test
  void firstDrawsOfThreadsAreIndependent() throws Exception {
    recorder.detail.sampling(QUARTER);
    List<Boolean> drawn = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      Thread thread =
          new Thread(
              () ->
                  drawn.add(
                      recorder.detail.draw(new ThreadLog(recorder, Thread.currentThread())) > 0));
      thread.start();
      thread.join();
    }
    int one = 0;
    int[] both = new int[9];
    for (int i = 0; i < 2000; i++) {
      one += drawn.get(i) ? 1 : 0;
      for (int apart = 1; apart < both.length && i + apart < 2000; apart++) {
        both[apart] += drawn.get(i) && drawn.get(i + apart) ? 1 : 0;
      }
    }
    // five deviations of binomials with 1/4 and 1/16
    assertThat(one).isBetween(403, 597);
    for (int apart = 1; apart < both.length; apart++) {
      assertThat(both[apart]).as("both of a pair, %d apart", apart).isBetween(70, 180);
    }
  }

  /** No period that a program may share: every draw against those up to 64 before. */
  @Test
  void drawsOfAThreadHaveNoPeriod() throws IOException {
    recorder.detail.sampling(QUARTER);
    boolean[] drawn = new boolean[100_000];
    for (int i = 0; i < drawn.length; i++) {
      drawn[i] = recorder.detail.draw(log) > 0;
    }
    for (int apart = 1; apart <= 64; apart++) {
      int both = 0;
      for (int i = apart; i < drawn.length; i++) {
        both += drawn[i] && drawn[i - apart] ? 1 : 0;
      }
      assertThat(both).as("%d apart", apart).isBetween(6250 - 400, 6250 + 400);
    }
  }
}
