package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writes what a process writes, through the public API, and compares it with schema/golden/v1 byte
 * for byte; the Rust reader asserts the same files. {@code mvn test -Dtest=GoldenTest
 * -Dgolden.write=true} writes them anew.
 */
class GoldenTest {
  /** What the target of a counted-only call is found by. */
  private static final Object FILE = "a stream";

  private static final Path GOLDEN =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../../schema/golden/v1");
  private static final List<String> FILES = List.of("process", "dict-0", "1.seg");

  @TempDir Path dir;

  @Test
  void bytesAreThoseOfTheGoldenFiles() throws Exception {
    assumeThat(Thread.currentThread().getId())
        .as("skipped: the golden thread is main, tid 1")
        .isEqualTo(1);
    Path process = write();
    String events = GoldenEvents.json(new TraceReader(process).peek());
    if (Boolean.getBoolean("golden.write")) {
      Files.createDirectories(GOLDEN.resolve("process"));
      for (String file : FILES) {
        Path to = GOLDEN.resolve("process").resolve(file);
        Files.copy(process.resolve(file), to, StandardCopyOption.REPLACE_EXISTING);
      }
      Files.writeString(GOLDEN.resolve("events.json"), events);
    }
    assertThat(events).isEqualTo(Files.readString(GOLDEN.resolve("events.json")));
    for (String file : FILES) {
      assertThat(process.resolve(file)).hasSameBinaryContentAs(GOLDEN.resolve("process/" + file));
    }
    assertThat(process).isDirectoryNotContaining(p -> !FILES.contains(p.getFileName().toString()));
  }

  /** What the collector wrote; {@code rust/native/src/collect/golden.rs} asserts its bytes. */
  @Test
  void theGoldenControlPageSaysWhatTheCollectorWanted() throws Exception {
    Recorder.Options options = Points.options(dir);
    ControlPage control = new ControlPage(new JdkFiles(), dir, options.uid);
    Files.copy(GOLDEN.resolve("control"), dir.resolve("control"));
    assertThat(control.read()).isEqualTo(1);
    assertThat(control.level()).isEqualTo(Schema.LEVEL_PHASE);
    assertThat(control.sampling()).isEqualTo(250_000_000);
    assertThat(control.budget()).isEqualTo(10_000);
    assertThat(control.eventCost()).isEqualTo(123);
    assertThat(IntStream.range(0, Schema.PROCESS_MAX_POINTS).filter(control::pointOff))
        .containsExactly(1, 64, Schema.PROCESS_MAX_POINTS - 1);
  }

  @Test
  void aControlPageOfAnotherVersionIsOff() throws Exception {
    Recorder recorder = Recorder.open(Points.options(dir));
    byte[] page = Files.readAllBytes(GOLDEN.resolve("control"));
    page[Schema.PREAMBLE_VERSION] = 2;
    Files.write(dir.resolve("control"), page);
    assertThat(recorder.controlWord()).isZero();
  }

  private Path write() throws IOException {
    Recorder recorder = Recorder.open(options());
    ThreadLog log = recorder.thread();
    Path process = TraceReader.processes(dir).get(0);

    recorder.processContext(recorder.context("run-1", "job_1", "attempt_1", "map", null));
    fillRing(recorder, log);
    new TraceReader(process).poll(); // the first slot from here on is the gap

    long file = recorder.name(Schema.CATEGORY_FILE, "/a/b");
    log.enter(Points.JAVA_READ, file, 4096, 0);
    log.exit(4096, 0, 0);
    log.enter(Points.JAVA_READ, file, 5_000_000_000L, 4096);
    log.exit(-1, 28, Schema.FLAG_ERRNO);

    afterwards(log, blockRead(recorder, log));
    countedWrites(recorder, log);

    log.enter(Points.READ_BLOCK, block(recorder, 2), 0, 0);
    log.enter(Points.JAVA_READ, recorder.name(Schema.CATEGORY_FILE, "/ä/€/😀"), 512, 512);

    recorder.pointState(Points.JAVA_READ, Schema.POINT_STATE_WOVEN);
    recorder.pointState(Points.HDFS_READ, Schema.POINT_STATE_MISSING);
    recorder.fault(Points.UNUSED, "java.lang.NullPointerException");
    recorder.count(Schema.PROCESS_COUNTER_REENTRANT, 2);
    recorder.acknowledge(7);
    return process;
  }

  private Recorder.Options options() {
    Recorder.Options options = Points.ticking(dir);
    options.proc = 0x0123_4567_89AB_CDEFL;
    options.pid = 4711;
    options.uid = 1000;
    options.pidStart = 123456;
    options.pointsHash = 42;
    options.text = "main=org.example.Main\nargs=ä b\nrun=run-1\n";
    options.ringSlots = 32;
    options.tableRows = 32;
    options.dictionaryBytes = 4096;
    options.capBytes = 12_000; // one segment, no successor
    options.directionOfPoint = new byte[Points.HDFS_READ + 1];
    options.directionOfPoint[Points.HDFS_READ] =
        1; // of two nested ones the inner's bytes are covered
    return options;
  }

  /** 32 slots, of which one is the process's context, then three calls without a slot. */
  private static void fillRing(Recorder recorder, ThreadLog log) {
    long input = recorder.name(Schema.CATEGORY_INPUT, "/in");
    for (int i = 0; i < 34; i++) {
      Points.call(log, Points.HDFS_READ, input, 1 << 16);
    }
  }

  private static long block(Recorder recorder, int number) {
    int pool = (int) recorder.name(Schema.CATEGORY_BLK, "BP-1");
    return recorder.name(
        Schema.CATEGORY_BLK, "blk_107374182" + number, pool, 1073741820 + number, 1000 + number);
  }

  /**
   * A block read for a client in another process: an HDFS read with two reads of a file inside, one
   * failing. Returns it as the cause of later work.
   */
  private static Cause blockRead(Recorder recorder, ThreadLog log) {
    int client = recorder.context("run-1", null, null, null, "DFSClient_attempt_1");
    Cause remote = new Cause(client, 0x7777, 0x8888, (9L << 40) + 5, 0, 0);
    log.pushContext(Points.READ_BLOCK, client, remote);
    log.enter(Points.READ_BLOCK, block(recorder, 5), 0, 0);
    log.enter(Points.HDFS_READ, 0, 1024, 65536);
    log.enter(Points.HDFS_READ, recorder.name(Schema.CATEGORY_HDFS, "/user/x"), 1024, 65536);
    log.enter(Points.JAVA_READ, 0, 1024, 0);
    log.exit(recorder.name(Schema.CATEGORY_BLK_META, "blk_1073741825_1005.meta"), 7, 0, 0);
    log.enter(Points.JAVA_READ, 0, 1024, 7);
    int exception = (int) recorder.name(Schema.CATEGORY_EXCEPTION, "java.io.EOFException");
    log.exit(0, exception, Schema.FLAG_ERROR);
    log.exit(1000, 0, 0);
    log.exit(1000, 0, 0);
    Cause local = log.cause();
    log.exit(1024, 0, 0);
    log.popContext();
    return local;
  }

  /** What a thread does for a span of another thread: it waited, and acts on the same block. */
  private static void afterwards(ThreadLog log, Cause local) {
    log.pushContext(Points.JAVA_READ, local.context, local);
    log.enter(Points.JAVA_READ, 0, 100, 0);
    log.exit(100, 0, 0);
    log.popContext();
  }

  private static void countedWrites(Recorder recorder, ThreadLog log) {
    long output = recorder.name(Schema.CATEGORY_OUTPUT, "/out");
    for (int i = 0; i < 3; i++) {
      log.enterCounted(Points.COUNTED_WRITE, output, FILE, 1, 1);
      log.exitCounted(Points.COUNTED_WRITE, ThreadLog.AS_ENTERED, false);
    }
  }
}
