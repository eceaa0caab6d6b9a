package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole processes: killed, short of memory, of several JDKs, in a full or read-only tmpfs. */
class ProcessTest {
  private static final int KILLS = Integer.getInteger("kills", 20);
  private static final long CAP = 64 << 20;

  @TempDir Path disk;
  private Path dir;
  private Path log;

  @BeforeEach
  void memory() throws IOException {
    Path shm = Path.of("/dev/shm");
    dir = Files.createTempDirectory(Files.isWritable(shm) ? shm : disk, "iostrata-test-");
    log = disk.resolve("output");
  }

  @AfterEach
  void clean() throws IOException {
    try (var paths = Files.walk(dir)) {
      for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(path);
      }
    }
  }

  private Path java(int release) throws IOException {
    Path java = Jvm.java(release);
    assumeThat(java).as("skipped: no JDK %d here", release).isNotNull();
    return java;
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 25})
  void killedAtAnyTimeEverySlotIsWholeAndCounted(int release) throws Exception {
    Path java = java(release);
    long seen = 0;
    for (int i = 0; i < KILLS / 2; i++) {
      Process child =
          Jvm.start(java, log, List.of(), "write", dir.toString(), "1000000000", "" + CAP);
      TraceReader reader = waitForCalls(child);
      boolean drains = i % 2 == 0; // otherwise gaps are in play
      for (long end = System.nanoTime() + (40 + 13 * i) * 1_000_000L; System.nanoTime() < end; ) {
        if (drains) {
          reader.poll();
        }
      }
      child.destroyForcibly().waitFor(); // SIGKILL
      seen += assertWhole(drains ? reader.poll() : reader.peek(), drains);
      clean();
      Files.createDirectory(dir);
    }
    assertThat(seen).isGreaterThan(KILLS); // how many more is a matter of the machine's load
  }

  private TraceReader waitForCalls(Process child) throws Exception {
    for (int i = 0; i < 3000 && child.isAlive(); i++) {
      if (!TraceReader.processes(dir).isEmpty()) {
        TraceReader reader = TraceReader.only(dir).peek();
        if (reader.slotCount() > 0) {
          return new TraceReader(TraceReader.processes(dir).get(0));
        }
      }
      Thread.sleep(10);
    }
    throw new AssertionError("no call within 30 s: " + Files.readString(log));
  }

  /** Number of whole slots. A killed process has one call in flight per thread. */
  private static long assertWhole(TraceReader trace, boolean all) {
    Set<Long> spans = new HashSet<>();
    for (TraceReader.Slot slot : trace.slots()) {
      if (slot.kind().equals("gap")) {
        continue;
      }
      long number = trace.name(slot.targetId()).equals("/thread-1") ? 1 : 0;
      assertThat(slot.kind()).isEqualTo("call");
      assertThat(slot.offset()).isEqualTo(slot.bytes()).isPositive();
      assertThat(slot.asked()).isEqualTo(Writer.asked(number, slot.bytes()));
      assertThat(spans.add(slot.span())).as("span %x once", slot.span()).isTrue();
    }
    long calls = trace.calls().size();
    long count = trace.sum(TraceReader.Row::count);
    if (all) {
      long gaps =
          trace.slots().stream()
              .filter(slot -> slot.kind().equals("gap"))
              .mapToLong(TraceReader.Slot::bytes)
              .sum();
      assertThat(count).isGreaterThanOrEqualTo(calls + gaps);
    } else {
      assertThat(count - calls - trace.gaps()).isBetween(0L, (long) Writer.THREADS);
    }
    assertThat(trace.rows().stream().filter(TraceReader.Row::torn).count())
        .isLessThanOrEqualTo(Writer.THREADS);
    assertThat(trace.rows())
        .filteredOn(row -> !row.torn())
        .allSatisfy(row -> assertThat(row.timed()).isEqualTo(row.count()));
    return calls;
  }

  @ParameterizedTest
  @CsvSource({"17, -Xshare:auto", "25, -Xshare:auto", "17, unsafe", "25, unsafe"})
  void everyCallArrivesUnderGarbageCollectionOnEveryJdk(int release, String option)
      throws Exception {
    List<String> options = new ArrayList<>(List.of("-Xmx32m"));
    options.add(option.equals("unsafe") ? "-D" + Fence.PROPERTY + "=unsafe" : option);
    Process child =
        Jvm.start(java(release), log, options, "churn", dir.toString(), "300000", "" + CAP);
    TraceReader reader = waitForCalls(child);
    while (child.isAlive()) {
      reader.poll();
      Thread.sleep(1);
    }
    assertThat(Jvm.waitFor(child)).as(Files.readString(log)).isZero();
    assertThat(Files.readString(log)).isEmpty();
    reader.poll();
    assertThat(reader.calls()).hasSize(600_000);
    assertThat(reader.sum(TraceReader.Row::count)).isEqualTo(600_000);
    assertThat(reader.sum(TraceReader.Row::bytes)).isEqualTo(300_000L * 300_001);
    assertThat(reader.page().state()).isEqualTo(2);
    assertThat(reader.page().counters()).containsOnly(0L);
  }

  @Test
  void inAFullTmpfsTheProcessGoesOnAndCounts() throws Exception {
    mount("size=320k");
    try {
      Process child =
          Jvm.start(java(17), log, List.of(), "write", dir.toString(), "100000", "" + CAP);
      assertThat(Jvm.waitFor(child)).as(Files.readString(log)).isZero();
      assertThat(Files.readString(log)).isEmpty();
      TraceReader reader = TraceReader.only(dir).peek();
      long lost = reader.page().counters().get(Schema.PROCESS_COUNTER_LOST_CALLS);
      assertThat(lost + reader.sum(TraceReader.Row::count)).isEqualTo(200_000);
      assertThat(reader.page().counters().get(Schema.PROCESS_COUNTER_REFUSED_SEGMENTS))
          .isPositive();
      assertThat(reader.page().counters().get(Schema.PROCESS_COUNTER_FAULTS)).isZero();
    } finally {
      unmount();
    }
  }

  @Test
  void aTmpfsWithoutRoomForThePageIsRefusedAndLeavesNoFile() throws Exception {
    mount("size=8k");
    try {
      assertThatThrownBy(() -> Recorder.open(Points.options(dir)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("No space left on device");
      assertThat(TraceReader.processes(dir)).isEmpty();
    } finally {
      unmount();
    }
  }

  @Test
  void aReadOnlyDirectoryIsRefused() throws Exception {
    mount("ro");
    try {
      assertThatThrownBy(() -> Recorder.open(Points.options(dir)))
          .isInstanceOf(IOException.class)
          .hasMessage("cannot make " + dir.resolve("0") + ": Read-only file system");
    } finally {
      unmount();
    }
  }

  private void mount(String options) throws Exception {
    assumeThat(ThisProcess.uid()).as("skipped: mounting a tmpfs needs root").isZero();
    int code = run("mount", "-t", "tmpfs", "-o", options, "iostrata-test", dir.toString());
    assumeThat(code).as("skipped: a tmpfs cannot be mounted here").isZero();
    assertThat(Files.readString(Path.of("/proc/self/mounts")))
        .contains("iostrata-test " + dir + " tmpfs");
  }

  private void unmount() throws Exception {
    // Lazily: the reader's mappings last until they are collected.
    assertThat(run("umount", "-l", dir.toString())).isZero();
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
