package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hooks find the target of a call again without a lookup, and never that of another object. */
class KnownTargetTest {
  private static final int POINT = 1;

  /** Shares the place of {@link #POINT} among the known ones. */
  private static final int NEIGHBOUR = POINT + KnownTarget.POINTS;

  private static final String TABLE = row(POINT) + row(NEIGHBOUR);

  private static String row(int point) {
    return String.join(
        "\t",
        "" + point,
        "java",
        "read",
        "a/B",
        "read",
        "()V",
        "call",
        "0",
        "0",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "\n");
  }

  @TempDir Path directory;
  private Recorder recorder;
  private final List<Object> lookups = new ArrayList<>();

  /** The target of a value is its text. */
  private final class Named extends Extractor {
    private final boolean stays;

    Named(boolean stays) {
      this.stays = stays;
    }

    @Override
    long of(Probe probe, Object a, Object b) {
      lookups.add(a);
      return recorder.name(Schema.CATEGORY_FILE, String.valueOf(a));
    }

    @Override
    boolean isOfFirst(Object a) {
      return stays && a != null;
    }
  }

  @BeforeEach
  void begin() throws Exception {
    recorder = HooksForTests.begin(directory, PointTable.parse(TABLE));
    HooksForTests.target(POINT, new Named(true));
    HooksForTests.target(NEIGHBOUR, new Named(true));
  }

  @AfterEach
  void end() {
    HooksForTests.target(POINT, null);
    HooksForTests.target(NEIGHBOUR, null);
    HooksForTests.end();
    recorder.close();
  }

  @Test
  void oneObjectIsLookedUpOnce() throws Exception {
    Object file = "a";
    for (int i = 0; i < 100; i++) {
      call(POINT, file, i);
    }

    assertThat(lookups).containsExactly("a");
    assertThat(targets()).hasSize(100).containsOnly("a");
  }

  @Test
  void objectsThatTakeTurnsHaveTheirOwnTargets() throws Exception {
    List<String> expected = new ArrayList<>();
    for (int objects = 2; objects <= 5; objects++) {
      for (int i = 0; i < 20; i++) {
        Object file = "object " + i % objects;
        expected.add((String) file);
        call(POINT, file, null);
      }
    }

    assertThat(targets()).isEqualTo(expected);
  }

  @Test
  void pointsThatShareAPlaceDoNotShareATarget() throws Exception {
    HooksForTests.target(
        NEIGHBOUR,
        new Extractor() {
          @Override
          long of(Probe probe, Object a, Object b) {
            return recorder.name(Schema.CATEGORY_FILE, "of the neighbour");
          }
        });
    Object file = "a";
    for (int i = 0; i < 10; i++) {
      call(POINT, file, null);
      call(NEIGHBOUR, file, null);
    }

    assertThat(targets()).hasSize(20);
    assertThat(targets().subList(0, 4))
        .containsExactly("a", "of the neighbour", "a", "of the neighbour");
    assertThat(targets().subList(16, 20))
        .containsExactly("a", "of the neighbour", "a", "of the neighbour");
  }

  @Test
  void whatMayChangeIsAskedEachTime() throws Exception {
    HooksForTests.target(POINT, new Named(false));
    Object file = "a";
    for (int i = 0; i < 5; i++) {
      call(POINT, file, "second");
    }

    assertThat(lookups).hasSize(5);
  }

  @Test
  void nothingIsNotAnObjectThatWasCollected() {
    KnownTarget known = new KnownTarget(POINT, new Object(), 7, null);
    known.clear();

    assertThat(known.isOf(POINT, null)).isFalse();
    assertThat(new KnownTarget(POINT, null, 7, null).isOf(POINT, null)).isTrue();
    assertThat(new KnownTarget(POINT, null, 7, null).isOf(NEIGHBOUR, null)).isFalse();
  }

  @Test
  void aPointWithoutTargetTakesThatOfTheCallAroundIt() throws Exception {
    HooksForTests.target(NEIGHBOUR, null);
    for (int i = 0; i < 3; i++) {
      Hooks.enter(POINT, "around", null, 0, -1, 0);
      call(NEIGHBOUR, null, null);
      Hooks.exit(Hooks.AS_ENTERED, POINT);
    }

    assertThat(targets()).hasSize(6).containsOnly("around");
  }

  @Test
  void anotherThreadHasItsOwn() throws Exception {
    Object file = "a";
    call(POINT, file, null);
    Thread other =
        new Thread(
            () -> {
              for (int i = 0; i < 100; i++) {
                call(POINT, "other", null);
              }
            });
    other.start();
    other.join();
    call(POINT, file, null);

    assertThat(targets()).hasSize(102);
    assertThat(targets().stream().filter("a"::equals)).hasSize(2);
  }

  private static void call(int point, Object a, Object b) {
    Hooks.enter(point, a, b, 1, -1, 0);
    Hooks.exit(1, point);
  }

  /** Names of the targets of the calls. */
  private List<String> targets() throws Exception {
    TraceReader trace = TraceReader.only(directory).peek();
    return trace.calls().stream()
        .sorted(Comparator.comparingLong(TraceReader.Slot::start))
        .map(call -> trace.name(call.targetId()))
        .toList();
  }
}
