package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SaturationTest {
  private static double found(double first, double most, double limit, List<Double> asked)
      throws Exception {
    return Saturation.find(
        first,
        most,
        rate -> {
          asked.add(rate);
          return rate <= limit;
        });
  }

  @Test
  void itIsWithinATenthFromAboveAndFromBelow() throws Exception {
    for (double first : new double[] {10, 700, 20_000}) {
      double found = found(first, 100_000, 1234, new ArrayList<>());
      assertThat(found).isBetween(1234 / 1.1, 1234.0);
    }
  }

  @Test
  void ratesAreDoubledThenTheMiddleIsTaken() throws Exception {
    List<Double> asked = new ArrayList<>();
    found(100, 100_000, 250, asked);
    assertThat(asked.subList(0, 4)).containsExactly(100.0, 200.0, 400.0, Math.sqrt(200 * 400));
  }

  @Test
  void itEndsAtTheMostAndWhereNothingHolds() throws Exception {
    List<Double> asked = new ArrayList<>();
    assertThat(found(100, 300, 1e9, asked)).isEqualTo(300);
    assertThat(asked).containsExactly(100.0, 200.0, 300.0);
    assertThat(found(100, 300, 0, new ArrayList<>())).isZero();
  }
}
