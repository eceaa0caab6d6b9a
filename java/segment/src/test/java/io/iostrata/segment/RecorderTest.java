package io.iostrata.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The native writer as Java reaches it. What it writes of calls is tested beside it, in
 * rust/segment/src/writer/tests.rs.
 */
class RecorderTest {
  private static final int READ = 1;
  private static final int SCOPE = 3;
  private static final int COUNTED = 4;

  @TempDir Path dir;

  @BeforeAll
  static void load() {
    NativeLibrary.load();
  }

  private Recorder open() throws IOException {
    Recorder.Options options = new Recorder.Options();
    options.dir = dir;
    options.proc = 0xAB;
    options.text = "main=M\nargs=ä\n";
    Recorder recorder = Recorder.open(options);
    long[] facts = new long[Schema.PROCESS_MAX_POINTS];
    facts[READ] = Recorder.facts(READ, Schema.LAYER_JAVA, 0, false, false, 0, 0);
    facts[SCOPE] = Recorder.facts(SCOPE, Schema.LAYER_DATANODE, 0, true, true, 0, 0);
    facts[COUNTED] = Recorder.facts(COUNTED, Schema.LAYER_FS, 0, false, false, 0, 0);
    recorder.points(facts);
    return recorder;
  }

  private static void read(Recorder recorder, long file, long bytes) {
    ThreadLog log = recorder.thread();
    log.enter(READ, file, bytes, 7, 0);
    log.exit(READ, bytes);
  }

  @Test
  void thePageSaysWhoTheProcessIs() throws IOException {
    Recorder recorder = open();
    TraceReader.Page page = TraceReader.only(dir).page();
    assertThat(page.proc()).isEqualTo(0xAB);
    assertThat(page.pid()).isEqualTo((int) ProcessHandle.current().pid());
    assertThat(page.uid()).isEqualTo(recorder.uid());
    assertThat(page.pointsHash()).isEqualTo(Schema.POINTS_HASH);
    assertThat(page.text()).isEqualTo("main=M\nargs=ä\n");
    assertThat(recorder.directory()).startsWith(dir.toString()).endsWith("-00000000000000ab");
  }

  @Test
  void aMissingDirectoryIsRefusedInOneLine() {
    dir = dir.resolve("missing");
    assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("missing");
  }

  @Test
  void callsHaveWhatJavaGave() throws IOException {
    Recorder recorder = open();
    String name = "/ä/\uD83D\uDE00\0b";
    long file = recorder.name(Schema.CATEGORY_FILE, name, 0, 9, 10);
    assertThat(recorder.name(Schema.CATEGORY_FILE, name, 0, 9, 10)).isEqualTo(file);
    read(recorder, file, 5);
    ThreadLog log = recorder.thread();
    log.enter(READ, file, 1, -1, 0);
    log.failed(READ, (int) recorder.name(Schema.CATEGORY_EXCEPTION, "java.io.IOException"));
    for (int i = 0; i < 100; i++) {
      log.enterCounted(COUNTED, file, 0, 3);
      log.exitCounted(COUNTED, ThreadLog.AS_ENTERED, false);
    }
    log.enterCounted(COUNTED, file, 0, 3);
    log.dropCounted(COUNTED);

    TraceReader trace = TraceReader.only(dir).peek();
    TraceReader.Slot call = trace.calls().get(0);
    assertThat(call.bytes()).isEqualTo(5);
    assertThat(call.asked()).isEqualTo(5);
    assertThat(call.offset()).isEqualTo(7);
    assertThat(trace.name(call.targetId())).isEqualTo(name);
    TraceReader.Slot failed = trace.calls().get(1);
    assertThat(trace.name(failed.ret())).isEqualTo("java.io.IOException");
    assertThat(failed.flags()).isEqualTo(Schema.FLAG_ERROR);
    TraceReader.Row counted =
        trace.rows().stream().filter(row -> row.point() == COUNTED).findFirst().orElseThrow();
    assertThat(counted.count()).isEqualTo(100);
    assertThat(counted.bytes()).isEqualTo(300);
  }

  @Test
  void aCauseIsCarriedToAnotherThread() throws Exception {
    Recorder recorder = open();
    ThreadLog log = recorder.thread();
    log.enter(SCOPE, 0, 0, -1, 0);
    Cause cause = log.cause();
    Thread other =
        new Thread(
            () -> {
              recorder.thread().enterFor(READ, 0, 0, -1, 0, 0, cause);
              recorder.thread().exit(READ, 4);
            });
    other.start();
    other.join();
    log.exit(SCOPE, 0);

    TraceReader trace = TraceReader.only(dir).peek();
    List<TraceReader.Slot> told =
        trace.slots().stream()
            .filter(slot -> slot.kind().equals("context") && slot.span() != 0)
            .toList();
    assertThat(told.get(0).span()).isEqualTo(cause.span).isPositive();
    assertThat(told.get(0).parent()).isEqualTo(0xAB);
    assertThat(told.get(0).tid()).isEqualTo(other.getId());
  }

  @Test
  void aThreadHasTheNameUnderWhichItFirstServesSomebody() throws Exception {
    Recorder recorder = open();
    int alice = recorder.context("", "", "", "", "alice");
    Thread server = new Thread(() -> serve(recorder, alice), "not yet");
    server.start();
    server.join();

    TraceReader trace = TraceReader.only(dir).peek();
    List<String> names =
        trace.entries().values().stream()
            .filter(entry -> entry.category() == Schema.CATEGORY_THREAD_NAME)
            .map(TraceReader.Entry::name)
            .toList();
    assertThat(names).containsExactly("not yet", "serves 1");
    assertThat(trace.calls()).hasSize(3);
    assertThat(trace.calls().get(0).segment()).isNotEqualTo(trace.calls().get(1).segment());
    assertThat(trace.calls().get(1).segment()).isEqualTo(trace.calls().get(2).segment());
  }

  /** A call before, and two that belong to somebody. */
  private static void serve(Recorder recorder, int client) {
    read(recorder, 0, 1);
    ThreadLog log = recorder.thread();
    for (int request = 1; request <= 2; request++) {
      Thread.currentThread().setName("serves " + request);
      log.enterFor(READ, 0, 0, -1, 0, client, null);
      log.exit(READ, 4);
    }
  }

  @Test
  void aThreadThatEndsGivesItsSegmentBackAndMayBeginAnew() throws IOException {
    Recorder recorder = open();
    read(recorder, 0, 1);
    recorder.endThread();
    assertThat(TraceReader.only(dir).poll().calls()).hasSize(1);
    read(recorder, 0, 1);
    recorder.endThread();
    assertThat(recorder.slots()).isEqualTo(2);
  }

  @Test
  void thousandsOfThreadsAtOnceLoseNoCount() throws Exception {
    Recorder recorder = open();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      Thread thread = new Thread(null, () -> read(recorder, 0, 1), "t" + i, 128 << 10);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    long counted =
        TraceReader.only(dir).peek().rows().stream().mapToLong(TraceReader.Row::count).sum();
    assertThat(counted).isEqualTo(3000);
  }

  @Test
  void closingSealsAndWhatComesLaterIsCounted() throws IOException {
    Recorder recorder = open();
    read(recorder, 0, 1);
    recorder.close();
    read(recorder, 0, 1);

    TraceReader trace = TraceReader.only(dir);
    assertThat(trace.page().state()).isEqualTo(2);
    assertThat(trace.poll().calls()).hasSize(1);
    assertThat(trace.page().counters().get(Schema.PROCESS_COUNTER_LOST_CALLS)).isOne();
  }

  @Test
  void aCallThatIsOpenAtTheEndStaysOpen() throws IOException {
    Recorder recorder = open();
    recorder.thread().enter(READ, 0, 1, 0, 0);
    recorder.close();

    Path segment = TraceReader.processes(dir).get(0).resolve("1.seg");
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(segment)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(bytes.getInt(Schema.SEGMENT_STATE)).isEqualTo(Schema.STATE_ACTIVE);
    assertThat(bytes.getInt(Schema.SEGMENT_OPEN_DEPTH)).isOne();
  }

  @Test
  void afterDetachNothingIsTouched() throws IOException {
    Recorder recorder = open();
    ThreadLog log = recorder.thread();
    log.enter(READ, 0, 1, 0, 0);
    recorder.stop();
    recorder.detach();
    log.exit(READ, 1);
    log.enter(READ, 0, 1, 0, 0);
    log.cause();
    recorder.endThread();
    assertThat(TraceReader.only(dir).page().state()).isEqualTo(3);
  }

  @Test
  void theControlPageIsReadAndAcknowledged() throws IOException {
    Recorder recorder = open();
    assertThat(recorder.controlWord()).isZero();
    byte[] page = new byte[Schema.CONTROL_SIZE];
    ByteBuffer control = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    control.putInt(0, Schema.MAGIC).putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    control.putShort(Schema.PREAMBLE_FILE_KIND, (short) 4);
    control.putInt(Schema.CONTROL_WORD, 77).putInt(Schema.CONTROL_BUDGET, 10_000);
    control.put(Schema.CONTROL_POINTS_OFF + 511 / 8, (byte) 0x80);
    Path fresh = Files.write(dir.resolve("new"), page);
    Files.move(fresh, dir.resolve("control"), StandardCopyOption.REPLACE_EXISTING);

    assertThat(recorder.controlWord()).isEqualTo(77);
    assertThat(recorder.budget()).isEqualTo(10_000);
    assertThat(recorder.isOff(511)).isTrue();
    assertThat(recorder.isOff(3)).isFalse();
    recorder.acknowledge(77);
    assertThat(TraceReader.only(dir).page().seenControl()).isEqualTo(77);
    Files.write(dir.resolve("control"), new byte[10]);
    assertThat(recorder.controlWord()).isZero();
  }

  @Test
  void aControlPageOfAnotherUserIsNotBelieved() throws IOException {
    Recorder recorder = open();
    assumeThat(recorder.uid()).as("skipped: giving files away needs root").isZero();
    byte[] page = new byte[Schema.CONTROL_SIZE];
    ByteBuffer control = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    control.putInt(0, Schema.MAGIC).putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    control.putShort(Schema.PREAMBLE_FILE_KIND, (short) 4);
    control.putInt(Schema.CONTROL_WORD, 77);
    Path path = Files.write(dir.resolve("control"), page);
    assertThat(recorder.controlWord()).isEqualTo(77);
    Files.setAttribute(path, "unix:uid", 65534);
    assertThat(recorder.controlWord()).isZero();
  }
}
