package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Bounds are five standard errors; seeds are fixed. */
class DistributionsTest {
  private static final int COUNT = 200_000;

  @Test
  void sessionsAreGeometric() {
    SplittableRandom random = new SplittableRandom(1);
    long[] of = new long[3];
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
      long size = Distributions.geometric(random, 4);
      assertThat(size).isPositive();
      sum += size;
      of[(int) Math.min(size, 3) - 1]++;
    }
    assertThat(sum / COUNT).isCloseTo(4, within(5 * Math.sqrt(12.0 / COUNT)));
    assertThat(of[0] / (double) COUNT).isCloseTo(.25, within(5 * Math.sqrt(.1875 / COUNT)));
    assertThat(of[1] / (double) COUNT).isCloseTo(.1875, within(5 * Math.sqrt(.152 / COUNT)));
    assertThat(Distributions.geometric(random, 1)).isEqualTo(1);
  }

  @Test
  void sizesAreConstantOrSpreadAroundTheirMean() {
    SplittableRandom random = new SplittableRandom(1);
    assertThat(new Sizes(1000, 0).draw(random)).isEqualTo(1000);
    assertThat(new Sizes(0, 1).draw(random)).isZero();
    Sizes spread = new Sizes(1000, 0.5);
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
      int size = spread.draw(random);
      assertThat(size).isBetween(0, 10_000);
      sum += size;
    }
    // half a byte is cut off on average
    double deviation = 1000 * Math.sqrt(Math.expm1(.25));
    assertThat(sum / COUNT).isCloseTo(999.5, within(5 * deviation / Math.sqrt(COUNT)));
  }

  @Test
  void popularityFallsWithTheRankToTheExponent() {
    int files = 50;
    Popularity popularity = new Popularity(files, 0.8, new SplittableRandom(5));
    int[] counts = new int[files];
    SplittableRandom random = new SplittableRandom(6);
    for (int i = 0; i < COUNT; i++) {
      counts[popularity.file(random)]++;
    }
    double sum = 0;
    for (int rank = 1; rank <= files; rank++) {
      sum += Math.pow(rank, -0.8);
    }
    for (int rank = 1; rank <= files; rank++) {
      double share = Math.pow(rank, -0.8) / sum;
      double error = Math.sqrt(share * (1 - share) / COUNT);
      assertThat(counts[popularity.ranked(rank - 1)] / (double) COUNT)
          .isCloseTo(share, within(5 * error));
    }
  }

  @Test
  void eachFileHasOneRankAndRanksAreShuffled() {
    Popularity popularity = new Popularity(100, 1, new SplittableRandom(5));
    Set<Integer> found = new HashSet<>();
    int same = 0;
    for (int rank = 0; rank < 100; rank++) {
      found.add(popularity.ranked(rank));
      same += popularity.ranked(rank) == rank ? 1 : 0;
    }
    assertThat(found).hasSize(100);
    assertThat(same).isLessThan(10);
  }

  @Test
  void operationsHaveTheirShares() {
    double[] weights = {69.25, 17, 9, 1.2, 0.3, 1.3, 0.75};
    Mix mix = new Mix(weights);
    Map<Operation, Integer> counts = new EnumMap<>(Operation.class);
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < COUNT; i++) {
      counts.merge(mix.draw(random), 1, Integer::sum);
    }
    for (Operation operation : Operation.values()) {
      double share = weights[operation.ordinal()] / 98.8;
      assertThat(mix.share(operation)).isCloseTo(share, within(1e-12));
      assertThat(counts.get(operation) / (double) COUNT)
          .isCloseTo(share, within(5 * Math.sqrt(share * (1 - share) / COUNT)));
    }
    Mix stat = new Mix(new double[] {0, 3, 0, 0, 0, 0, 0});
    for (int i = 0; i < 100; i++) {
      assertThat(stat.draw(random)).isEqualTo(Operation.STAT);
    }
  }

  @Test
  void filesLieInTheLowestFolders() throws IOException {
    NameSpace space = new NameSpace(SettingsForTests.settings("depth=2", "fanout=3"));
    assertThat(space.file(0)).hasToString("/tmp/requests/in/d0/d0/f0");
    assertThat(space.file(5)).hasToString("/tmp/requests/in/d2/d1/f5");
    Set<String> folders = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      folders.add(space.file(i).getParent().toString());
    }
    assertThat(folders).hasSize(9);
    assertThat(new NameSpace(SettingsForTests.settings("depth=0")).file(4))
        .hasToString("/tmp/requests/in/f4");
  }
}
