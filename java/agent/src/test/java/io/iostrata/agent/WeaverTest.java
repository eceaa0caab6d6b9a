package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.util.CheckClassAdapter;

/** Methods of all shapes give the same results woven and not, and are recorded. */
class WeaverTest {
  /** What is woven: each method is awkward in a way of its own. */
  public static class Shapes {
    private final String path = "/a";
    private long position = 7;
    private int depth;

    public double wide(long a, double b, long bytes) {
      return a + b + bytes + path.length();
    }

    /** Its first instruction is the target of a jump. */
    public int loopAtStart(int n) {
      do {
        n--;
      } while (n > 0);
      return n;
    }

    public synchronized int catches(int n) {
      try {
        if (n == 1) {
          throw new IOException("caught inside");
        }
        if (n == 2) {
          throw new IllegalStateException("thrown out");
        }
        return n;
      } catch (IOException e) {
        return -5;
      } finally {
        position += n;
      }
    }

    public static String ofClass(String text, int[] unused) {
      return text == null ? null : text + unused.length;
    }

    public void overwrites(byte[] bytes, int length) {
      length = -length;
      bytes = null;
      position += length;
    }

    public int recursive(int n) {
      return n == 0 ? ++depth : recursive(n - 1);
    }

    public byte[] array(int n) {
      return n < 0 ? null : new byte[n];
    }

    public void whole(int n) {
      array(n);
      array(n + 1);
      loopAtStart(5);
      if (n > 100) {
        throw new IllegalStateException("after the first two");
      }
    }

    public long endless() {
      return endless() + 1;
    }
  }

  private static final String NAME = Shapes.class.getName().replace('.', '/');
  private static final String TABLE =
      "names\n"
          + row(1, "wide", "(JDJ)D", "arg3", "arg1", "this.position", "file(this.path)")
          + row(2, "loopAtStart", "(I)I", "ret", "arg1", "", "")
          + row(3, "catches", "(I)I", "ret", "", "this.position", "file(this.path)")
          + row(4, "ofClass", "(Ljava/lang/String;[I)Ljava/lang/String;", "ret", "arg1", "", "")
          + row(5, "overwrites", "([BI)V", "arg2", "arg1", "", "")
          + row(6, "recursive", "(I)I", "byte", "", "arg1", "")
          + row(7, "array", "(I)[B", "ret", "", "", "")
          + row(8, "endless", "()J", "ret", "", "", "")
          + row(9, "whole", "(I)V", "of(array)", "", "", "")
          + row(20, "noSuchMethod", "()V", "", "", "", "")
          + row(21, "hashCode", "()I", "this.noSuchField", "", "", "");

  @TempDir Path directory;
  private Recorder recorder;

  private static String row(
      int id,
      String method,
      String desc,
      String bytes,
      String asked,
      String offset,
      String target) {
    return String.join(
        "\t", "" + id, "java", method, NAME, method, desc, "call", "0", "0", bytes, asked, offset,
        target, "", "", "", "", "\n");
  }

  @BeforeEach
  void record() throws IOException {
    PointTable table = PointTable.parse(TABLE);
    recorder = HooksForTests.begin(directory, table);
  }

  @AfterEach
  void stop() {
    HooksForTests.end();
    recorder.close();
  }

  private static byte[] original() throws IOException {
    try (InputStream in = Shapes.class.getResourceAsStream("WeaverTest$Shapes.class")) {
      return in.readAllBytes();
    }
  }

  private static Weaver.Woven woven() throws IOException {
    return Weaver.weave(original(), PointTable.parse(TABLE).of(NAME));
  }

  /** An object of the class, defined from these bytes by a loader of its own. */
  private static Object instance(byte[] bytes) throws Exception {
    ClassLoader loader =
        new ClassLoader(WeaverTest.class.getClassLoader()) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(Shapes.class.getName())
                ? defineClass(name, bytes, 0, bytes.length)
                : super.loadClass(name, resolve);
          }
        };
    return Class.forName(Shapes.class.getName(), true, loader).getConstructor().newInstance();
  }

  private static Object call(Object on, String method, Object... arguments) throws Exception {
    for (Method candidate : on.getClass().getMethods()) {
      if (candidate.getName().equals(method)) {
        try {
          return candidate.invoke(on, arguments);
        } catch (InvocationTargetException e) {
          return e.getCause().toString();
        }
      }
    }
    throw new AssertionError(method);
  }

  private List<String> calls() throws IOException {
    TraceReader trace = TraceReader.only(directory).peek();
    return trace.calls().stream()
        .map(
            call ->
                call.point()
                    + (" " + call.bytes() + "/" + call.asked() + " @" + call.offset())
                    + (call.targetId() == 0 ? "" : " " + trace.name(call.targetId()))
                    + ((call.flags() & Schema.FLAG_INNER) == 0 ? "" : " inner")
                    + ((call.flags() & Schema.FLAG_ERROR) == 0 ? "" : " " + trace.name(call.ret())))
        .toList();
  }

  @Test
  void theClassIsValidAndSaysWhatItLacks() throws Exception {
    Weaver.Woven woven = woven();

    assertThat(woven.found)
        .extracting(point -> point.id)
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(woven.missing).extracting(point -> point.id).containsExactly(20, 21);
    Throwable invalid =
        catchThrowable(
            () ->
                new ClassReader(woven.bytes)
                    .accept(
                        new CheckClassAdapter(new ClassWriter(0), true),
                        ClassReader.EXPAND_FRAMES));
    assertThat(invalid).isNull();
  }

  @Test
  void aClassWithoutItsPointsIsLeftAlone() throws Exception {
    Point[] none =
        PointTable.parse("names\n" + row(20, "noSuchMethod", "()V", "", "", "", "")).of(NAME);

    assertThat(Weaver.weave(original(), none).bytes).isNull();
  }

  @Test
  void resultsAreTheSameAndCallsAreRecorded() throws Exception {
    Object plain = instance(original());
    Object woven = instance(woven().bytes);
    Object[][] calls = {
      {"wide", 1L, 2.5, 1000L},
      {"loopAtStart", 3},
      {"catches", 0},
      {"catches", 1},
      {"catches", 2},
      {"ofClass", "abc", new int[2]},
      {"ofClass", null, null},
      {"overwrites", new byte[20], 15},
      {"recursive", 2},
      {"array", 12},
      {"array", -1},
      {"whole", 10},
      {"whole", 101},
    };
    for (Object[] call : calls) {
      Object[] arguments = java.util.Arrays.copyOfRange(call, 1, call.length);
      assertThat(call(woven, (String) call[0], arguments))
          .isEqualTo(call(plain, (String) call[0], arguments));
    }

    assertThat(calls())
        .containsExactly(
            "1 1000/1 @7 /a",
            "2 0/3 @-1",
            "3 0/0 @7 /a",
            "3 0/0 @7 /a",
            "3 0/0 @8 /a java.lang.IllegalStateException",
            "4 4/3 @-1",
            "4 0/0 @-1",
            "5 15/20 @-1",
            "6 1/0 @0 inner",
            "6 1/0 @1 inner",
            "6 1/0 @2",
            "7 12/0 @-1",
            "7 0/0 @-1",
            "7 10/0 @-1 inner",
            "7 11/0 @-1 inner",
            "2 0/5 @-1 inner",
            "9 21/0 @-1",
            "7 101/0 @-1 inner",
            "7 102/0 @-1 inner",
            "2 0/5 @-1 inner",
            "9 203/0 @-1 java.lang.IllegalStateException");
  }

  @Test
  void offRecordsNothing() throws Exception {
    Object woven = instance(woven().bytes);
    Hooks.record(false);

    call(woven, "loopAtStart", 3);

    assertThat(TraceReader.processes(directory)).hasSize(1);
    assertThat(TraceReader.only(directory).peek().slotCount()).isZero();
  }

  @Test
  void aCallOpenWhenARecordingEndsIsForgotten() throws Exception {
    Object woven = instance(woven().bytes);
    call(woven, "loopAtStart", 1);
    Hooks.enter(3, null, null, 0, -1, 0);
    Hooks.record(false);
    Hooks.exit(5, 3);
    Hooks.record(true);

    call(woven, "loopAtStart", 2);

    assertThat(calls()).containsExactly("2 0/1 @-1", "2 0/2 @-1");
    assertThat(TraceReader.only(directory).peek().open()).isEmpty();
  }

  @Test
  void exitsThatNeverCameAreCountedAndRepaired() throws Exception {
    Hooks.enter(3, null, null, 0, -1, 0);
    Hooks.enter(4, null, null, 0, -1, 0);
    Hooks.exit(5, 3);
    Hooks.exit(5, 7);

    assertThat(calls()).containsExactly("3 5/0 @-1");
    TraceReader.Page page = TraceReader.only(directory).page();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_UNBALANCED)).isEqualTo(2);
  }

  @Test
  void anExtractorThatThrowsEndsItsPointAndNothingElse() throws Exception {
    HooksForTests.target(
        1,
        new Extractor() {
          @Override
          long of(Probe probe, Object a, Object b) {
            throw new OutOfMemoryError("of an extractor");
          }
        });
    Object woven = instance(woven().bytes);
    for (int i = 0; i < 3; i++) {
      assertThat(call(woven, "wide", 1L, 2.5, 1000L)).isEqualTo(1005.5);
    }
    call(woven, "loopAtStart", 3);

    assertThat(calls()).containsExactly("2 0/3 @-1");
    TraceReader trace = TraceReader.only(directory).peek();
    assertThat(trace.pointFaults(1)).isEqualTo(1);
    assertThat(trace.pointState(1)).isEqualTo(Schema.POINT_STATE_FAULTED);
    assertThat(trace.page().counters().get(Schema.PROCESS_COUNTER_FAULTS)).isEqualTo(1);
  }

  @Test
  void ioOfAnExtractorIsNotTraced() throws Exception {
    Object woven = instance(woven().bytes);
    HooksForTests.target(
        1,
        new Extractor() {
          @Override
          long of(Probe probe, Object a, Object b) throws Exception {
            call(woven, "loopAtStart", 3);
            return 0;
          }
        });

    call(woven, "wide", 1L, 2.5, 1000L);

    assertThat(calls()).containsExactly("1 1000/1 @7");
    TraceReader.Page page = TraceReader.only(directory).page();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_REENTRANT)).isEqualTo(1);
  }

  @Test
  void withoutStackTheProgramSeesWhatItWouldHaveSeen() throws Exception {
    Object woven = instance(woven().bytes);

    assertThat(call(woven, "endless")).isEqualTo("java.lang.StackOverflowError");

    assertThat(call(woven, "loopAtStart", 3)).isEqualTo(0);
    Hooks.reportFaults();
    TraceReader.Page page = TraceReader.only(directory).page();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_FAULTS)).isPositive();
  }

  @Test
  void whereverTheStackEndsTheThreadIsHeardAgain() throws Exception {
    Object woven = instance(woven().bytes);
    for (int round = 0; round < 200; round++) {
      Hooks.begin(); // points that the last round has switched off are on again
      assertThat(call(woven, "endless")).isEqualTo("java.lang.StackOverflowError");
      assertThat(Probe.current().busy).as("round %d", round).isFalse();
    }
  }
}
