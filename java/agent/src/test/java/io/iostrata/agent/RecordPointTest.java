package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.IntBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.util.CheckClassAdapter;

/** Points of records: calls that count only when a record was there, and bytes worked out. */
class RecordPointTest {
  /** What is woven. */
  public static class Records {
    private long written;
    private int left = 3;

    // The fields of MapTask.MapOutputBuffer that CollectedBytes reads, with room for three records.
    private final IntBuffer kvmeta = IntBuffer.allocate(12);
    private int kvindex = 4;
    private int kvend = 4;
    private int bufmark;
    private int bufvoid = 100;

    public boolean next() {
      return left-- > 0;
    }

    public boolean nextOrThrow(boolean found, boolean fails) {
      if (fails) {
        throw new IllegalStateException("asked for");
      }
      return found && inner();
    }

    private boolean inner() {
      return next();
    }

    public void append(int bytes) {
      written += bytes;
      if (bytes > 1000) {
        throw new IllegalStateException("too many");
      }
    }

    /** Puts a key start and the end of the record where Hadoop does. */
    public void collect(int keyStart, int end) {
      kvmeta.put(kvindex + 1, keyStart);
      kvindex = (kvindex - 4 + kvmeta.capacity()) % kvmeta.capacity();
      bufmark = end;
    }

    public void spillAtOnce() {
      kvend = kvindex;
    }
  }

  private static final String NAME = Records.class.getName().replace('.', '/');
  private static final String TABLE =
      "names\n"
          + row(1, "next", "()Z", "record", "")
          + row(2, "nextOrThrow", "(ZZ)Z", "record", "")
          + row(3, "append", "(I)V", "counted", "delta(this.written)")
          + row(4, "collect", "(II)V", "counted", "collected(this)")
          + row(5, "spillAtOnce", "()V", "call", "collected(this)")
          + row(6, "inner", "()Z", "call", "delta(this.left)")
          + row(20, "toString", "()Ljava/lang/String;", "counted", "delta(this.noSuchField)");

  @TempDir Path directory;
  private Recorder recorder;
  private Object records;

  private static String row(int id, String method, String desc, String mode, String bytes) {
    return String.join(
        "\t",
        "" + id,
        "record",
        method,
        NAME,
        method,
        desc,
        mode,
        "0",
        "0",
        bytes,
        "",
        "",
        "records()",
        "",
        "",
        "",
        "",
        "\n");
  }

  @BeforeEach
  void record() throws Exception {
    PointTable table = PointTable.parse(TABLE);
    recorder = HooksForTests.begin(directory, table);
    byte[] woven = woven().bytes;
    ClassLoader loader =
        new ClassLoader(RecordPointTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(Records.class.getName())
                ? defineClass(name, woven, 0, woven.length)
                : super.loadClass(name, resolve);
          }
        };
    records = Class.forName(Records.class.getName(), true, loader).getConstructor().newInstance();
  }

  @AfterEach
  void stop() {
    HooksForTests.end();
    recorder.close();
  }

  private static Weaver.Woven woven() throws IOException {
    try (InputStream in = Records.class.getResourceAsStream("RecordPointTest$Records.class")) {
      return Weaver.weave(in.readAllBytes(), PointTable.parse(TABLE).of(NAME));
    }
  }

  private Object call(String method, Object... arguments) throws Exception {
    for (java.lang.reflect.Method candidate : records.getClass().getMethods()) {
      if (candidate.getName().equals(method)) {
        try {
          return candidate.invoke(records, arguments);
        } catch (java.lang.reflect.InvocationTargetException e) {
          return e.getCause().getMessage();
        }
      }
    }
    throw new AssertionError(method);
  }

  private List<String> sums() throws IOException {
    return HooksForTests.sums(directory);
  }

  @Test
  void theClassIsValidAndSaysWhatItLacks() throws Exception {
    Weaver.Woven woven = woven();

    assertThat(woven.found).extracting(point -> point.id).containsExactly(1, 2, 3, 4, 5, 6);
    assertThat(woven.missing).extracting(point -> point.id).containsExactly(20);
    new ClassReader(woven.bytes)
        .accept(new CheckClassAdapter(new ClassWriter(0), true), ClassReader.EXPAND_FRAMES);
  }

  @Test
  void aCallThatReturnsFalseIsNoRecord() throws Exception {
    for (boolean there : new boolean[] {true, true, true, false, false}) {
      assertThat(call("next")).isEqualTo(there);
    }

    assertThat(sums()).containsExactly("1: 3 calls 0 B 0 errors");
  }

  @Test
  void aForgottenCallLeavesWhatIsAroundItAsItWas() throws Exception {
    assertThat(call("nextOrThrow", true, false)).isEqualTo(true);
    assertThat(call("nextOrThrow", false, false)).isEqualTo(false);
    assertThat(call("nextOrThrow", false, true)).isEqualTo("asked for");
    assertThat(call("nextOrThrow", true, false)).isEqualTo(true);

    // `left` shrinks inside of 6, and nothing below 0 is counted
    assertThat(sums())
        .containsExactly(
            "1: 2 calls 0 B 0 errors", "2: 3 calls 0 B 1 errors", "6: 2 calls 0 B 0 errors");
    TraceReader.Page page = TraceReader.only(directory).page();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_UNBALANCED)).isZero();
  }

  @Test
  void bytesAreWhatAFieldHasGrownBy() throws Exception {
    call("append", 7);
    call("append", 0);
    call("append", 30);

    assertThat(sums()).containsExactly("3: 3 calls 37 B 0 errors");
  }

  @Test
  void aCallThatThrowsHasMovedNothing() throws Exception {
    call("append", 7);
    assertThat(call("append", 2000)).isEqualTo("too many");

    assertThat(sums()).containsExactly("3: 2 calls 7 B 1 errors");
  }

  @Test
  void bytesOfACollectedRecordAlsoWhenItWraps() throws Exception {
    call("collect", 10, 35); // 25
    call("collect", 90, 15); // 10 to the end of the ring, 15 from its start

    assertThat(sums()).containsExactly("4: 2 calls 50 B 0 errors");
  }

  @Test
  void aRecordThatWasSpilledAtOnceIsNotInTheRing() throws Exception {
    call("spillAtOnce");
    call("collect", 90, 15);
    call("spillAtOnce");

    assertThat(sums()).containsExactly("4: 1 calls 25 B 0 errors", "5: 2 calls 0 B 0 errors");
  }
}
