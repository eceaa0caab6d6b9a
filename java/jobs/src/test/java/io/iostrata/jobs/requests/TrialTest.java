package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.iostrata.jobs.Json;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class TrialTest {
  private static final Work NOTHING = (operation, random) -> 10;
  private static final Work SLOW =
      (operation, random) -> {
        LockSupport.parkNanos(20_000_000);
        return 0;
      };

  private static Measured run(Settings settings, Work work)
      throws IOException, InterruptedException {
    return new Trial(settings, work, settings.rate, settings.duration, settings.seed).run();
  }

  private static void assertAllAccountedFor(Measured measured) {
    assertThat(
            measured.completed() + measured.failed() + measured.notStarted() + measured.dropped())
        .isEqualTo(measured.issued());
  }

  @Test
  void allThatArrivesInTheTimeIsIssued() throws Exception {
    Settings settings = SettingsForTests.settings();
    Measured measured = run(settings, NOTHING);
    assertThat(measured.issued())
        .isEqualTo(Trial.planned(settings, 1000, 1, settings.seed))
        .isBetween(1000L - 5 * 32, 1000L + 5 * 32);
    assertAllAccountedFor(measured);
    assertThat(measured.asMap()).containsEntry("planned_sessions", measured.issued());
    long bytes = measured.byOperation().stream().mapToLong(of -> (long) of.get("bytes")).sum();
    assertThat(bytes).isEqualTo(measured.completed() * 10);
  }

  @Test
  void slowWorkDoesNotHoldArrivalsBackAndWaitingIsLatency() throws Exception {
    Settings settings = SettingsForTests.settings("threads=1", "arrivals=constant");
    Measured measured = run(settings, SLOW);
    assertThat(measured.issued()).isEqualTo(999);
    assertThat(measured.notStarted()).isGreaterThan(800);
    assertAllAccountedFor(measured);
    assertThat(measured.kept()).isLessThan(0.1);
    // the last that was done had been due for most of the second, and took 20 ms
    assertThat(measured.latency(1)).isGreaterThan(0.5);
    Map<String, Object> of = measured.byOperation().get(0);
    assertThat((double) of.get("service_ms_p50")).isGreaterThanOrEqualTo(20);
    assertThat((double) of.get("latency_ms_p90")).isGreaterThan((double) of.get("service_ms_p90"));
  }

  @Test
  void whatIsBeyondTheLimitIsDropped() throws Exception {
    Settings settings =
        SettingsForTests.settings("threads=1", "limit=5", "duration=0.3", "arrivals=constant");
    Measured measured = run(settings, SLOW);
    assertThat(measured.dropped()).isGreaterThan(200);
    assertThat(measured.notStarted()).isLessThanOrEqualTo(5);
    assertAllAccountedFor(measured);
    assertThat((long) measured.asMap().get("most_waiting")).isEqualTo(5);
  }

  @Test
  void requestsOfASessionComeOneAfterTheOther() throws Exception {
    Settings settings =
        SettingsForTests.settings("session=5", "base=500", "think=0.002", "duration=2");
    AtomicInteger done = new AtomicInteger();
    Measured measured = run(settings, (operation, random) -> done.incrementAndGet());
    assertAllAccountedFor(measured);
    assertThat(measured.completed()).isEqualTo(done.get());
    long sessions = Trial.planned(settings, 500, 2, settings.seed);
    assertThat(sessions).isBetween(200L - 5 * 14, 200L + 5 * 14);
    // five each on average, but for those that the end cuts off
    assertThat(measured.issued() / (double) sessions).isBetween(3.8, 6.2);
  }

  @Test
  void eachSessionOpensWhatDoesItsRequestsOnceAndAllIsClosed() throws Exception {
    Settings settings =
        SettingsForTests.settings("session=5", "base=500", "think=0.002", "duration=1");
    AtomicInteger opened = new AtomicInteger();
    AtomicInteger closed = new AtomicInteger();
    Work work =
        new Work() {
          @Override
          public long perform(Operation operation, SplittableRandom random) {
            throw new AssertionError("not of a session");
          }

          @Override
          public Work session() {
            opened.incrementAndGet();
            return new Work() {
              @Override
              public long perform(Operation operation, SplittableRandom random) {
                return 0;
              }

              @Override
              public void close() {
                closed.incrementAndGet();
              }
            };
          }
        };
    Measured measured = run(settings, work);
    // on a busy machine some still wait in the queue when the time is up
    long late = measured.notStarted();
    assertThat(measured.completed()).isEqualTo(measured.issued() - late);
    long planned = Trial.planned(settings, 500, 1, settings.seed);
    assertThat((long) opened.get()).isBetween(planned - late, planned);
    assertThat(closed.get()).isEqualTo(opened.get());
  }

  @Test
  void failuresAreCountedByExceptionAndHaveNoLatency() throws Exception {
    Settings settings = SettingsForTests.settings("mix=0,1,0,0,0,0,1");
    Measured measured =
        run(
            settings,
            (operation, random) -> {
              if (operation == Operation.DELETE) {
                throw new FileNotFoundException("gone");
              }
              return 0;
            });
    assertAllAccountedFor(measured);
    assertThat(measured.failed()).isPositive();
    assertThat(measured.errors())
        .containsExactly(
            Map.of(
                "operation",
                "delete",
                "exception",
                "FileNotFoundException",
                "count",
                measured.failed()));
    assertThat(measured.byOperation())
        .extracting(of -> of.get("operation"), of -> of.get("completed"))
        .containsExactly(tuple("stat", measured.completed()), tuple("delete", 0L));
  }

  @Test
  void resultsAreJson() {
    assertThat(
            Json.text(Map.of("a", List.of(1, 0.123456789, 5e9, Double.NaN, "x\"\\\n", List.of()))))
        .isEqualTo("{\"a\": [1, 0.123457, 5000000000, null, \"x\\u0022\\u005c\\u000a\", []]}");
  }
}
