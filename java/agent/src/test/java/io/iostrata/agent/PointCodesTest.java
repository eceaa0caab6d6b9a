package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import org.junit.jupiter.api.Test;

/** What is generated for the native loader says the same as the table that it stands for. */
class PointCodesTest {
  private final PointTable table = PointTable.parse(PointText.table());

  @Test
  void theRecorderIsToldTheSame() {
    // WHEN
    long[] facts = PointCodes.install();
    // THEN
    int reported = 0;
    for (Point[] points : table.classes()) {
      for (Point point : points) {
        int layer = point.effectOnly ? 0 : point.layer;
        long upTo = facts[point.id] & 0xFFFFFF;
        long expected =
            Recorder.facts(point.id, layer, table.direction(point), point.scope, point.begin, 0, 0);
        assertThat(upTo).as(point.op).isEqualTo(expected);
        reported++;
      }
    }
    assertThat(reported).isGreaterThan(200);
  }

  @Test
  void theSameExtractorsAreMadeAtFirstUse() throws Throwable {
    Extractor[][] all = {Hooks.TARGETS, Hooks.CONTEXTS, Hooks.EFFECTS, Hooks.MEASURES};
    HooksForTests.install(table);
    Extractor[][] made = new Extractor[all.length][];
    for (int i = 0; i < all.length; i++) {
      made[i] = all[i].clone();
    }
    // WHEN
    PointCodes.install();
    // THEN
    int extractors = 0;
    for (int i = 0; i < all.length; i++) {
      for (int point = 0; point < Schema.PROCESS_MAX_POINTS; point++) {
        if (made[i][point] == null) {
          assertThat(all[i][point]).isNull();
          continue;
        }
        String name = ((PointCodes.Late) all[i][point]).name;
        assertThat(Extractors.named(name)).hasSameClassAs(made[i][point]);
        extractors++;
      }
    }
    assertThat(extractors).isGreaterThan(100);
  }

  @Test
  void anExtractorStandsInItsPlaceFromItsFirstUseOn() throws Throwable {
    PointCodes.install();
    int point = 0;
    while (Hooks.MEASURES[point] == null) {
      point++;
    }
    Extractor late = Hooks.MEASURES[point];
    // WHEN
    try {
      late.of(Probe.current(), null, null);
    } catch (NullPointerException e) {
      // nothing to extract from
    }
    // THEN
    assertThat(Hooks.MEASURES[point]).isNotNull().isNotInstanceOf(PointCodes.Late.class);
    HooksForTests.install(table);
  }

  @Test
  void theSameOperationsAddUp() {
    HooksForTests.install(table);
    byte[] adds = HooksForTests.ADDS_UP.clone();
    byte[] added = Hooks.ADDED_UP.clone();
    // WHEN
    long[] facts = PointCodes.install();
    // THEN numbers may differ, what belongs together may not
    for (int whole = 0; whole < Schema.PROCESS_MAX_POINTS; whole++) {
      long operation = facts[whole] >> 24 & 0xFF;
      assertThat(operation != 0).isEqualTo(adds[whole] != 0);
      for (int part = 0; part < Schema.PROCESS_MAX_POINTS && adds[whole] != 0; part++) {
        assertThat((facts[part] >> 32 & 0xFF) == operation)
            .as("point %d in point %d", part, whole)
            .isEqualTo(added[part] == adds[whole]);
      }
    }
    HooksForTests.install(table);
  }
}
