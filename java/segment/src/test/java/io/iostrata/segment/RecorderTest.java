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
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Directories, the process page, names and the control page. */
class RecorderTest {
  @TempDir Path dir;

  @Test
  void theProcessDirectoryIsPrivateAndNamedAfterTheProcess() throws IOException {
    Recorder.Options options = Points.options(dir);
    options.proc = 0xAB;
    options.text = "main=M\nargs=ä\n";
    Recorder.open(options);

    Path user = dir.resolve(Integer.toString(ThisProcess.uid()));
    Path process = user.resolve(ProcessHandle.current().pid() + "-00000000000000ab");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(user)))
        .isEqualTo("rwx------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(process)))
        .isEqualTo("rwx------");
    TraceReader.Page page = new TraceReader(process).page();
    assertThat(page.proc()).isEqualTo(0xAB);
    assertThat(page.pid()).isEqualTo((int) ProcessHandle.current().pid());
    assertThat(page.pidStart()).isEqualTo(ThisProcess.start()).isPositive();
    assertThat(page.pointsHash()).isEqualTo(Schema.POINTS_HASH);
    assertThat(page.state()).isEqualTo(1);
    assertThat(page.text()).isEqualTo("main=M\nargs=ä\n");
  }

  @Test
  void twoRecordersOfAProcessHaveNamesOfTheirOwn() throws IOException {
    Recorder.open(Points.options(dir));
    Recorder.open(Points.options(dir));
    assertThat(TraceReader.processes(dir)).hasSize(2);
  }

  @Test
  void commandNamesAndUidsAreReadAsTheKernelWritesThem() {
    String stat = "12 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21\n";
    assertThat(ThisProcess.start(stat)).isEqualTo(987654);
    assertThat(ThisProcess.uid("Name:\tjava\nUid:\t1000\t1001\t1002\t1003\nGid:\t0\t0\t0\t0\n"))
        .isEqualTo(1001);
  }

  @Test
  void aMissingOrWrongDirectoryIsRefusedInOneLine() throws IOException {
    Path missing = dir.resolve("missing");
    assertRefused(missing, missing + " does not exist");
    Path file = Files.createFile(dir.resolve("file"));
    assertRefused(file, file + " is no directory");
  }

  @Test
  void aDirectoryOfAnotherUserIsRefused() throws IOException {
    assumeThat(ThisProcess.uid()).as("skipped: giving files away needs root").isZero();
    Path other = Files.createDirectory(dir.resolve("other"));
    Files.setAttribute(other, "unix:uid", 65534);
    assertRefused(other, other + " belongs to uid 65534, neither root nor 0");

    Path user = Files.createDirectory(dir.resolve("0"));
    Files.setAttribute(user, "unix:uid", 65534);
    assertRefused(dir, user + " belongs to uid 65534, not 0");
  }

  @Test
  void aUserDirectoryOpenToOthersIsRefused() throws IOException {
    Path user = Files.createDirectory(dir.resolve(Integer.toString(ThisProcess.uid())));
    Files.setPosixFilePermissions(user, PosixFilePermissions.fromString("rwxr-x---"));
    assertRefused(dir, user + " is open to others (mode 750, not 700)");
  }

  @Test
  void aLinkInPlaceOfTheUserDirectoryIsRefused() throws IOException {
    Path elsewhere = Files.createDirectory(dir.resolve("elsewhere"));
    Path user = Files.createSymbolicLink(dir.resolve("" + ThisProcess.uid()), elsewhere);
    assertRefused(dir, user + " is no directory");
  }

  private static void assertRefused(Path dir, String reason) {
    assertThatThrownBy(() -> Recorder.open(Points.options(dir)))
        .isInstanceOf(IOException.class)
        .hasMessage(reason);
  }

  @Test
  void longTextIsCutAtACharacter() throws IOException {
    Recorder.Options options = Points.options(dir);
    options.text = "x" + "ä".repeat(6000);
    Recorder.open(options);
    assertThat(TraceReader.only(dir).page().text()).isEqualTo("x" + "ä".repeat(5999));
  }

  @Test
  void aNameIsWrittenOnceWithAllItsFields() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    long pool = recorder.name(Schema.CATEGORY_BLK, "BP-1");
    long block = recorder.name(Schema.CATEGORY_BLK, "blk_7", (int) pool, 7, 1001);
    assertThat(block).isEqualTo((long) Schema.CATEGORY_BLK << 32 | 2);
    assertThat(recorder.name(Schema.CATEGORY_BLK, "blk_7", (int) pool, 7, 1001)).isEqualTo(block);
    assertThat(recorder.name(Schema.CATEGORY_BLK, "blk_7", (int) pool, 7, 1002))
        .isNotEqualTo(block);
    assertThat(recorder.name(Schema.CATEGORY_FILE, null)).isNotZero();
    assertThat(recorder.name(Schema.CATEGORY_FILE, "€".repeat(2000))).isNotZero();

    assertThat(TraceReader.only(dir).peek().entries().values())
        .containsExactly(
            new TraceReader.Entry(1, Schema.CATEGORY_BLK, "BP-1", 0, -1, -1),
            new TraceReader.Entry(2, Schema.CATEGORY_BLK, "blk_7", 1, 7, 1001),
            new TraceReader.Entry(3, Schema.CATEGORY_BLK, "blk_7", 1, 7, 1002),
            new TraceReader.Entry(4, Schema.CATEGORY_FILE, "", 0, -1, -1),
            new TraceReader.Entry(5, Schema.CATEGORY_FILE, "€".repeat(1365), 0, -1, -1));
  }

  @Test
  void namesBeyondAFileGoOnInTheNextAndAreForgotten() throws IOException {
    Recorder.Options options = Points.options(dir);
    options.dictionaryBytes = 64 + 4 * 40;
    Recorder recorder = Recorder.open(options);
    long first = recorder.name(Schema.CATEGORY_FILE, "/0");
    for (int i = 1; i < 10; i++) {
      recorder.name(Schema.CATEGORY_FILE, "/" + i);
    }
    assertThat(recorder.dictionary.remembered()).isEqualTo(2);
    assertThat((int) first).isOne();
    assertThat((int) recorder.name(Schema.CATEGORY_FILE, "/0")).isEqualTo(11);
    assertThat(TraceReader.only(dir).peek().entries()).hasSize(11);
    Path process = TraceReader.processes(dir).get(0);
    assertThat(sealed(process, 0)).isOne();
    assertThat(sealed(process, 1)).isOne();
    assertThat(sealed(process, 2)).isZero();
  }

  private static int sealed(Path process, int number) throws IOException {
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(process.resolve("dict-" + number)));
    return file.order(ByteOrder.LITTLE_ENDIAN).getInt(Schema.DICTIONARY_SEALED);
  }

  @Test
  void aMillionNamesKeepHeapAndFilesBounded() throws IOException {
    Recorder.Options options = Points.options(dir);
    options.capBytes = 16 << 20; // 16 dictionary files
    Recorder recorder = Recorder.open(options);
    Path process = TraceReader.processes(dir).get(0);
    int most = 0;
    for (int i = 0; i < 1_000_000; i++) {
      assertThat((int) recorder.name(Schema.CATEGORY_FILE, "/data/part-" + i)).isEqualTo(i + 1);
      if (i % 10_000 == 0) {
        most = Math.max(most, recorder.dictionary.remembered());
        unlinkSealed(process);
      }
    }
    assertThat(most).isBetween(1000, 6600);
    assertThat(new TraceReader(process).page().counters()).containsOnly(0L);
  }

  /** As the collector does with what it has read. */
  private static void unlinkSealed(Path process) throws IOException {
    for (Path path : dictionaries(process)) {
      if (sealed(process, Integer.parseInt(path.getFileName().toString().substring(5))) == 1) {
        Files.delete(path);
      }
    }
  }

  private static List<Path> dictionaries(Path process) throws IOException {
    try (var paths = Files.list(process)) {
      return paths.filter(p -> p.getFileName().toString().startsWith("dict-")).toList();
    }
  }

  @Test
  void namesBeyondTheCapAreRefusedAndCounted() throws IOException {
    Recorder.Options options = Points.options(dir);
    options.capBytes = 1; // two dictionary files, no segment
    options.dictionaryBytes = 64 + 4 * 40;
    Recorder recorder = Recorder.open(options);
    for (int i = 1; i <= 8; i++) {
      assertThat((int) recorder.name(Schema.CATEGORY_SPILL, "/" + i)).isEqualTo(i);
    }
    assertThat(recorder.name(Schema.CATEGORY_SPILL, "/9"))
        .isEqualTo((long) Schema.CATEGORY_SPILL << 32);
    assertThat(recorder.name(Schema.CATEGORY_SPILL, "/8")).isNotZero();
    assertThat(TraceReader.only(dir).page().counters()).containsExactly(0L, 0L, 1L, 0L, 0L, 0L);
  }

  @Test
  void faultsOfAPointAreCountedAndNamed() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    recorder.pointState(2, Schema.POINT_STATE_WOVEN);
    recorder.fault(3, "java.lang.Error: x");
    recorder.fault(3, "java.lang.Error: x");
    TraceReader trace = TraceReader.only(dir).peek();
    assertThat(trace.pointState(2)).isEqualTo(Schema.POINT_STATE_WOVEN);
    assertThat(trace.pointState(3)).isEqualTo(Schema.POINT_STATE_FAULTED);
    assertThat(trace.pointFaults(3)).isEqualTo(2);
    assertThat(trace.page().counters()).containsExactly(0L, 0L, 0L, 2L, 0L, 0L);
    assertThat(trace.entry(1).name()).isEqualTo("3\tjava.lang.Error: x");
  }

  @Test
  void theControlPageIsReadAndAcknowledged() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    assertThat(recorder.controlWord()).isZero();
    byte[] page = new byte[Schema.CONTROL_SIZE];
    ByteBuffer control = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    control.putInt(0, Schema.MAGIC).putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    control.putShort(Schema.PREAMBLE_FILE_KIND, (short) 4);
    control.putInt(Schema.CONTROL_WORD, 77);
    control.put(Schema.CONTROL_POINTS_OFF + 511 / 8, (byte) 0x80);
    control.put(Schema.CONTROL_POINTS_OFF, (byte) 0x04);
    Files.write(dir.resolve("control"), page);

    assertThat(recorder.controlWord()).isEqualTo(77);
    assertThat(TraceReader.only(dir).page().seenControl()).isZero();
    recorder.acknowledge(77);
    assertThat(TraceReader.only(dir).page().seenControl()).isEqualTo(77);
    assertThat(recorder.pointOff(2)).isTrue();
    assertThat(recorder.pointOff(3)).isFalse();
    assertThat(recorder.pointOff(511)).isTrue();

    Files.write(dir.resolve("control"), new byte[10]);
    assertThat(recorder.controlWord()).isZero();
    Files.write(dir.resolve("control"), new byte[Schema.CONTROL_SIZE]);
    assertThat(recorder.controlWord()).isZero();
  }

  @Test
  void aNewControlPageIsFoundWhenNobodyWritesToTheOldOne() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    byte[] page = new byte[Schema.CONTROL_SIZE];
    ByteBuffer control = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    control.putInt(0, Schema.MAGIC).putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    control.putShort(Schema.PREAMBLE_FILE_KIND, (short) 4);
    control.putInt(Schema.CONTROL_WORD, 77);
    Files.write(dir.resolve("control"), page);
    assertThat(recorder.controlWord()).isEqualTo(77);

    control.putInt(Schema.CONTROL_WORD, 78).putInt(Schema.CONTROL_BUDGET, 10_000);
    Path fresh = Files.write(dir.resolve("new"), page);
    Files.move(fresh, dir.resolve("control"), StandardCopyOption.REPLACE_EXISTING);
    for (int look = 0; look < 10; look++) {
      recorder.controlWord();
    }
    assertThat(recorder.controlWord()).isEqualTo(78);
    assertThat(recorder.budget()).isEqualTo(10_000);
  }

  @Test
  void aControlPageOfAnotherUserIsNotBelieved() throws IOException {
    assumeThat(ThisProcess.uid()).as("skipped: giving files away needs root").isZero();
    Recorder recorder = Recorder.open(Points.options(dir));
    byte[] page = new byte[Schema.CONTROL_SIZE];
    ByteBuffer control = ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN);
    control.putInt(0, Schema.MAGIC).putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    control.putShort(Schema.PREAMBLE_FILE_KIND, (short) 4);
    control.putInt(Schema.CONTROL_WORD, 77);
    Path path = Files.write(dir.resolve("control"), page);
    assertThat(recorder.controlWord()).isEqualTo(77);
    Files.setAttribute(path, "unix:uid", 65534);
    assertThat(Recorder.open(Points.options(dir)).controlWord()).isZero();
  }

  @Test
  void closingSealsAndWhatComesLaterIsCounted() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    long file = recorder.name(Schema.CATEGORY_FILE, "/a");
    Points.call(recorder.thread(), Points.JAVA_READ, file, 1);
    recorder.close();
    Points.call(recorder.thread(), Points.JAVA_READ, file, 1);

    TraceReader trace = TraceReader.only(dir);
    assertThat(trace.page().state()).isEqualTo(2);
    assertThat(trace.poll().calls()).hasSize(1);
    assertThat(trace.page().counters()).containsExactly(0L, 1L, 0L, 0L, 0L, 0L);
    Path segment = TraceReader.processes(dir).get(0).resolve("1.seg");
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(segment)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(bytes.getInt(Schema.SEGMENT_STATE)).isEqualTo(Schema.STATE_SEALED);
    assertThat(bytes.getInt(Schema.SEGMENT_DRAINED_EPOCH)).isOne();
  }

  @Test
  void aCallThatIsOpenAtTheEndStaysOpen() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    recorder.thread().enter(Points.JAVA_READ, recorder.name(Schema.CATEGORY_FILE, "/a"), 1, 0);
    recorder.close();

    Path segment = TraceReader.processes(dir).get(0).resolve("1.seg");
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(segment)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(bytes.getInt(Schema.SEGMENT_STATE)).isEqualTo(Schema.STATE_ACTIVE);
    assertThat(bytes.getInt(Schema.SEGMENT_OPEN_DEPTH)).isOne();
    assertThat(TraceReader.only(dir).page().state()).isEqualTo(2);
  }

  @Test
  void anInterruptedThreadRecordsAndStaysInterrupted() throws IOException {
    Recorder recorder = Recorder.open(Points.options(dir));
    Thread.currentThread().interrupt();
    Points.call(recorder.thread(), Points.JAVA_READ, recorder.name(24, "/a"), 1);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(TraceReader.only(dir).peek().calls()).hasSize(1);
  }
}
