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
    Recorder.Options options = new Recorder.Options();
    // WHEN
    PointCodes.install(options);
    // THEN
    int reported = 0;
    for (Point[] points : table.classes()) {
      for (Point point : points) {
        int layer = point.effectOnly ? 0 : point.layer;
        assertThat(options.layerOfPoint[point.id]).as(point.op).isEqualTo((byte) layer);
        assertThat(options.scopeOfPoint[point.id]).as(point.op).isEqualTo(point.scope);
        assertThat(options.beginOfPoint[point.id]).as(point.op).isEqualTo(point.begin);
        assertThat(options.directionOfPoint[point.id])
            .as(point.op)
            .isEqualTo(table.direction(point));
        reported++;
      }
    }
    assertThat(reported).isGreaterThan(200);
    assertThat(options.layerOfPoint).contains((byte) Schema.LAYER_DATANODE);
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
    PointCodes.install(new Recorder.Options());
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
    PointCodes.install(new Recorder.Options());
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
    byte[] adds = Hooks.ADDS_UP.clone();
    byte[] added = Hooks.ADDED_UP.clone();
    // WHEN
    PointCodes.install(new Recorder.Options());
    // THEN numbers may differ, what belongs together may not
    for (int whole = 0; whole < Schema.PROCESS_MAX_POINTS; whole++) {
      assertThat(Hooks.ADDS_UP[whole] != 0).isEqualTo(adds[whole] != 0);
      for (int part = 0; part < Schema.PROCESS_MAX_POINTS && adds[whole] != 0; part++) {
        assertThat(Hooks.ADDED_UP[part] == Hooks.ADDS_UP[whole])
            .as("point %d in point %d", part, whole)
            .isEqualTo(added[part] == adds[whole]);
      }
    }
    HooksForTests.install(table);
  }
}
