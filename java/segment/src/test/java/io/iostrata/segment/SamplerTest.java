package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The estimate of the time of calls whose clocks are sampled, and its bound. */
class SamplerTest {
  /** The bound: this many standard deviations, 99 of 100 of a normal distribution. */
  private static final double WIDTH = 2.576;

  private static final int CALLS = 50_000;
  private static final int MANY_CALLS = 700_000; // blocks are four times as long by then

  /** ns of a call, as programs take them. */
  private enum Times {
    ALIKE,
    SKEWED,
    TWO_KINDS,
    PERIODIC,
    GROWING,
    SLOW_AT_FIRST;

    long next(Random random, int call) {
      switch (this) {
        case SKEWED:
          return (long) (200 * Math.exp(random.nextGaussian()));
        case TWO_KINDS:
          return random.nextInt(20) == 0 ? 2000 : 40;
        case PERIODIC: // a buffer that is flushed every 128th call, as often as clocks are read
          return call % 128 == 0 ? 3000 : 30;
        case GROWING:
          return 50 + call / 100;
        case SLOW_AT_FIRST:
          return call < 1000 ? 20_000 : 30;
        default:
          return 25 + random.nextInt(10);
      }
    }
  }

  private record Estimate(double time, double bound, double truth) {
    boolean holds() {
      return Math.abs(time - truth) <= bound + 1;
    }
  }

  private static Estimate run(Times times, long seed) {
    return run(times, seed, CALLS);
  }

  private static Estimate run(Times times, long seed, int calls) {
    Sampler sampler = new Sampler(seed);
    Random random = new Random(seed);
    double truth = 0;
    double sum = 0;
    double weight = 0;
    double spread = 0;
    for (int call = 0; call < calls; call++) {
      long time = times.next(random, call);
      truth += time;
      if (sampler.next()) {
        sum += (double) time * sampler.weight;
        weight += sampler.weight;
        spread += sampler.ended(time);
      }
    }
    double scale = calls / weight;
    return new Estimate(sum * scale, WIDTH * Math.sqrt(spread) * scale, truth);
  }

  @ParameterizedTest
  @EnumSource(Times.class)
  void theBoundHoldsInAtLeast95Of100Trials(Times times) {
    int held = 0;
    for (int seed = 1; seed <= 100; seed++) {
      held += run(times, seed).holds() ? 1 : 0;
    }
    assertThat(held).isBetween(95, 100);
  }

  @ParameterizedTest
  @EnumSource(
      value = Times.class,
      names = {"SKEWED", "TWO_KINDS", "PERIODIC"})
  void soDoesThatOfManyCalls(Times times) {
    int held = 0;
    for (int seed = 1; seed <= 100; seed++) {
      held += run(times, seed, MANY_CALLS).holds() ? 1 : 0;
    }
    assertThat(held).isBetween(95, 100);
  }

  @Test
  void ofManyCallsFewAreTimed() {
    Sampler sampler = new Sampler(1);
    int timed = 0;
    for (int call = 0; call < 20_000_000; call++) {
      if (sampler.next()) {
        timed++;
        sampler.ended(400);
      }
    }
    // 1 in 8 of the first 131,072, at last 1 in 128
    assertThat(timed).isBetween(20_000_000 / 128, 20_000_000 / 64);
  }

  @Test
  void theBoundIsAsWideAsTheCallsAreDifferent() {
    assertThat(share(Times.ALIKE)).isLessThan(0.05);
    assertThat(share(Times.SKEWED)).isLessThan(0.3);
    assertThat(share(Times.PERIODIC)).isBetween(0.3, 1.0); // 1 of 128 takes half of the time
  }

  private static double share(Times times) {
    Estimate estimate = run(times, 7);
    return estimate.bound / estimate.truth;
  }

  @Test
  void longCallsAreAllTimed() {
    Sampler sampler = new Sampler(1);
    for (int call = 0; call < 1000; call++) {
      assertThat(sampler.next()).isTrue();
      assertThat(sampler.weight).isOne();
      sampler.ended(5000);
    }
  }

  @Test
  void eachBlockOfShortCallsHasOneThatIsTimed() {
    Sampler sampler = new Sampler(1);
    int last = 0;
    int timed = 0;
    for (int call = 0; call < 32 + 128 * 1000; call++) {
      if (sampler.next()) {
        int block = (call - 32) / 128;
        assertThat(call < 32 ? call : 32 + block).isEqualTo(timed++);
        sampler.ended(1);
        last = call;
      }
    }
    assertThat(timed).isEqualTo(32 + 1000);
    assertThat(last).isGreaterThan(128 * 999);
  }
}
