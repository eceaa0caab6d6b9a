package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The short way of a counted-only call leaves what the long one leaves, whatever happens around it.
 */
class CountedPathTest {
  private static final int[] HOT = {Points.COUNTED_WRITE, Points.JAVA_READ};
  private static final int[] SPANS = {Points.HDFS_READ, Points.READ_BLOCK};

  @TempDir Path dir;

  /** A log, and whether its counted-only calls may take the short way. */
  private static final class Side {
    final Recorder recorder;
    final Path dir;
    final boolean quick;
    final long[] targets;
    final Object[] objects = {null, "the stream to a", "that to b", "that to c"};
    final int[] contexts;
    int quickly;

    Side(Path dir, boolean quick) throws IOException {
      this.dir = Files.createDirectories(dir);
      this.quick = quick;
      Recorder.Options options = Points.ticking(dir);
      options.proc = 7;
      options.seed = 1;
      recorder = Recorder.open(options);
      targets =
          new long[] {
            0,
            recorder.name(Schema.CATEGORY_FILE, "/a"),
            recorder.name(Schema.CATEGORY_FILE, "/b"),
            recorder.name(Schema.CATEGORY_BLK, "c")
          };
      contexts =
          new int[] {
            0,
            recorder.context("r", "j", null, null, null),
            recorder.context("r", "k", null, null, null)
          };
    }

    /** {@code to}: which target, and the object that it is found by. */
    void enter(int point, int to, long asked, long bytes) {
      if (quick && recorder.thread().enterCountedQuickly(point, objects[to], asked, bytes)) {
        quickly++;
      } else {
        recorder.thread().enterCounted(point, targets[to], objects[to], asked, bytes);
      }
    }

    void exit(int point, long moved, boolean error) {
      if (quick && !error && recorder.thread().exitCountedQuickly(point, moved)) {
        quickly++;
      } else {
        recorder.thread().exitCounted(point, moved, error);
      }
    }
  }

  /** Calls in calls in spans in contexts, at random but for their order. */
  private static void run(Side side, long seed, int steps) {
    Random random = new Random(seed);
    ThreadLog log = side.recorder.thread();
    ArrayDeque<Integer> open =
        new ArrayDeque<>(); // points of counted-only calls, -1 span, -2 context
    int to = 0;
    for (int step = 0; step < steps; step++) {
      int kind = random.nextInt(100);
      to = random.nextInt(20) == 0 ? random.nextInt(4) : to;
      if (kind < 40 && open.size() < 12) {
        int point = HOT[random.nextInt(2)];
        side.enter(point, to, random.nextInt(3), random.nextInt(4));
        open.push(point);
      } else if (kind < 41 && open.size() < 12) {
        log.enter(SPANS[random.nextInt(2)], side.targets[random.nextInt(4)], 0, -1);
        open.push(-1);
      } else if (kind < 42 && open.size() < 12) {
        log.pushContext(side.contexts[random.nextInt(3)]);
        open.push(-2);
      } else if (kind < 43 && random.nextInt(10) == 0) {
        side.recorder.processContext(side.contexts[random.nextInt(3)]);
      } else if (!open.isEmpty()) {
        close(side, log, open.pop(), random);
      }
    }
    while (!open.isEmpty()) {
      close(side, log, open.pop(), random);
    }
  }

  private static void close(Side side, ThreadLog log, int what, Random random) {
    if (what == -1) {
      log.exit(random.nextInt(5), 0, 0);
    } else if (what == -2) {
      log.popContext();
    } else {
      long moved = random.nextInt(3) == 0 ? ThreadLog.AS_ENTERED : 1L << random.nextInt(12);
      side.exit(what, moved, random.nextInt(50) == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void bothWaysLeaveTheSame(long seed) throws IOException {
    Side quick = new Side(dir.resolve("quick"), true);
    Side slow = new Side(dir.resolve("slow"), false);
    for (Side side : List.of(quick, slow)) {
      ThreadLog log = side.recorder.thread();
      run(side, seed, 10_000);
      log.enter(Points.HDFS_READ, side.targets[1], 0, -1);
      run(side, -seed, 10_000);
      log.exit(0, 0, 0);
      log.end();
    }

    TraceReader one = TraceReader.only(quick.dir).peek();
    TraceReader other = TraceReader.only(slow.dir).peek();
    assertThat(one.rows()).containsExactlyElementsOf(other.rows());
    assertThat(one.slots()).containsExactlyElementsOf(other.slots());
    assertThat(quick.quickly).isGreaterThan(1000);
  }

  @Test
  void aRowOfCallsInATaskIsFoundTheShortWay() throws IOException {
    Side side = new Side(dir, true);
    side.recorder.thread().enter(Points.HDFS_READ, side.targets[1], 0, -1);
    for (int i = 0; i < 10_000; i++) {
      side.enter(Points.COUNTED_WRITE, 1, 0, 0);
      side.exit(Points.COUNTED_WRITE, i % 2 == 0 ? 11 : 91, false);
    }
    side.recorder.thread().exit(0, 0, 0);

    // but for those that are timed, and the first
    assertThat(side.quickly).isGreaterThan(19_000);
    long bytes = TraceReader.only(dir).peek().sum(TraceReader.Row::bytes);
    assertThat(bytes).isEqualTo(5_000L * (11 + 91));
  }

  @Test
  void soAreThoseOfStreamsThatWrapEachOther() throws IOException {
    Side side = new Side(dir, true);
    side.recorder.thread().enter(Points.HDFS_READ, side.targets[1], 0, -1);
    for (int i = 0; i < 10_000; i++) {
      side.enter(Points.COUNTED_WRITE, 2, 0, 10);
      side.enter(Points.COUNTED_WRITE, 1, 0, 10);
      side.exit(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
      side.exit(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
    }
    side.recorder.thread().exit(0, 0, 0);

    assertThat(side.quickly).isGreaterThan(38_000);
    long bytes = TraceReader.only(dir).peek().sum(TraceReader.Row::bytes);
    assertThat(bytes).isEqualTo(2 * 100_000L);
  }
}
