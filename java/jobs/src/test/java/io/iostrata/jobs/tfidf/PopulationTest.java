package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PopulationTest {
  private static long[] counts(Population of, long to) {
    long[] counts = new long[RequestClass.COUNT];
    for (long index = 0; index < to; index++) {
      counts[of.classOf(index).ordinal()]++;
    }
    return counts;
  }

  @Test
  void thePublishedOneHasItsSharesExactly() {
    Population published = new Population(50_116, 15_110);
    assertThat(counts(published, 50_116))
        .containsExactly(35_006, 2159, 2159, 2159, 2159, 2158, 2158, 2158);
  }

  @Test
  void eachPartHasTheSameShares() {
    Population published = new Population(50_116, 15_110);
    for (long to = 1; to < 50_116; to += 777) {
      long[] counts = counts(published, to);
      assertThat(to - counts[0]).isEqualTo(to * 15_110 / 50_116);
    }
  }

  @Test
  void allOrNoneMayBeAttacks() {
    assertThat(counts(new Population(14, 14), 14)).containsExactly(0, 2, 2, 2, 2, 2, 2, 2);
    assertThat(counts(new Population(14, 0), 14)).containsExactly(14, 0, 0, 0, 0, 0, 0, 0);
    assertThatThrownBy(() -> new Population(14, 15)).hasMessage("15 attacks of 14 requests");
  }
}
