package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bounds are five standard errors of what is estimated; seeds are fixed. */
class ArrivalsTest {
  private static final int COUNT = 200_000;
  private static final double RATE = 50;

  private static double[] gaps(Arrivals arrivals, int count) {
    double[] gaps = new double[count];
    Arrays.setAll(gaps, i -> arrivals.gap());
    return gaps;
  }

  private static double[] gaps(String... changed) throws IOException {
    return gaps(Arrivals.of(SettingsForTests.settings(changed), RATE, 3), COUNT);
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  /** Standard deviation by mean. */
  private static double variation(double[] values) {
    double mean = mean(values);
    double square = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).average().orElseThrow();
    return Math.sqrt(square) / mean;
  }

  @Test
  void constantGapsAreAllTheSame() throws IOException {
    assertThat(Arrays.stream(gaps("arrivals=constant")).distinct().toArray())
        .containsExactly(1 / RATE);
  }

  @Test
  void gapsOfPoissonVaryAsMuchAsTheirMean() throws IOException {
    double[] gaps = gaps("arrivals=poisson");
    assertThat(mean(gaps)).isCloseTo(1 / RATE, within(5 / RATE / Math.sqrt(COUNT)));
    assertThat(variation(gaps)).isCloseTo(1, within(5 * Math.sqrt(2.0 / COUNT)));
  }

  @Test
  void gapsOfTwoPhasesHaveTheAskedRateAndVaryAsTheirMixtureDoes() throws IOException {
    double[] gaps = gaps("arrivals=hyperexponential");
    double mean = .789 * 9.07 + .211 * 34.5;
    double square = 2 * (.789 * 9.07 * 9.07 + .211 * 34.5 * 34.5);
    double variation = Math.sqrt(square / mean / mean - 1);
    assertThat(variation).isBetween(1.3, 1.5);
    assertThat(mean(gaps)).isCloseTo(1 / RATE, within(5 * variation / RATE / Math.sqrt(COUNT)));
    assertThat(variation(gaps)).isCloseTo(variation, within(0.03));
  }

  @Test
  void countsOfIntervalsVaryAsTheLognormalRateDoesAndWithinItAsPoisson() throws IOException {
    double[] gaps = gaps("arrivals=lognormal", "sigma=0.5", "interval=10");
    double[] counts = new double[(int) (Arrays.stream(gaps).sum() / 10)];
    double at = 0;
    for (double gap : gaps) {
      at += gap;
      int interval = (int) (at / 10);
      if (interval < counts.length) {
        counts[interval]++;
      }
    }
    double rateVaries = Math.expm1(0.5 * 0.5);
    double expected = Math.sqrt(rateVaries + 1 / (10 * RATE));
    double error = expected / Math.sqrt(counts.length);
    assertThat(counts.length).isGreaterThan(300);
    assertThat(mean(counts) / 10 / RATE).isCloseTo(1, within(5 * error));
    assertThat(variation(counts)).isCloseTo(expected, within(0.15));
  }

  @Test
  void recordedGapsComeAsTheyAreAndBeginAgain(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("gaps.txt"), "0.1\n0\n0.37\n1e-3\n");
    double[] recorded = {0.1, 0, 0.37, 1e-3};
    assertThat(RecordedGaps.read(file.toString())).containsExactly(recorded);
    double rate = RecordedGaps.rate(recorded);
    assertThat(gaps(new RecordedGaps(recorded, rate), 6))
        .containsExactly(0.1, 0, 0.37, 1e-3, 0.1, 0);
    assertThat(gaps(new RecordedGaps(recorded, rate * 2), 3)).containsExactly(0.05, 0, 0.185);
  }

  @Test
  void aLineThatIsNoGapIsNamed(@TempDir Path folder) throws IOException {
    for (String wrong : new String[] {"soon", "-1", "NaN", "Infinity", ""}) {
      Path file = Files.writeString(folder.resolve("gaps.txt"), "0.1\n" + wrong + "\n0.2\n");
      assertThatThrownBy(() -> RecordedGaps.read(file.toString()))
          .hasMessage(file + " line 2: '" + wrong + "' is no gap in seconds");
    }
    Path zeros = Files.writeString(folder.resolve("zeros.txt"), "0\n0\n");
    assertThatThrownBy(() -> RecordedGaps.read(zeros.toString()))
        .hasMessage(zeros + ": no gap is longer than 0");
    Path empty = Files.writeString(folder.resolve("empty.txt"), "");
    assertThatThrownBy(() -> RecordedGaps.read(empty.toString()))
        .hasMessage(empty + ": no gap is longer than 0");
  }

  @Test
  void theSameSeedGivesTheSameGaps() throws IOException {
    for (String name : new String[] {"poisson", "lognormal", "hyperexponential"}) {
      assertThat(gaps("arrivals=" + name)).isEqualTo(gaps("arrivals=" + name));
    }
  }
}
