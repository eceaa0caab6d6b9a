package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.iostrata.segment.Recorder;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.mapred.IFileOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.util.CheckClassAdapter;

/** Bytes count where a file system's stream takes them, however many streams are around it. */
class PassingStreamsTest {
  private static final String CACHE = FSDataOutputStream.class.getName() + "$PositionCache";

  /** Writes every other byte. */
  private static final class HalfOutputStream extends CompressionOutputStream {
    private boolean odd;

    HalfOutputStream(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      odd = !odd;
      if (odd) {
        out.write(b);
      }
    }

    @Override
    public void finish() {}
  }

  @TempDir Path directory;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private Recorder recorder;
  private ClassLoader woven;
  private OutputStream file;

  @BeforeEach
  void record() throws Exception {
    PointTable table = PointTable.parse(PointText.table());
    recorder = HooksForTests.begin(directory, table);
    HooksForTests.target(61, null);
    HooksForTests.target(62, null);
    woven = loader(wovenCache());
    file = opened(new BufferedOutputStream(written, 1));
  }

  @AfterEach
  void stop() {
    HooksForTests.end();
    recorder.close();
  }

  private static byte[] bytes(String name) throws IOException {
    String path = "/" + name.replace('.', '/') + ".class";
    try (InputStream in = PassingStreamsTest.class.getResourceAsStream(path)) {
      return in.readAllBytes();
    }
  }

  private static byte[] wovenCache() throws IOException {
    PointTable table = PointTable.parse(PointText.table());
    return Weaver.weave(bytes(CACHE), table.of(CACHE.replace('.', '/'))).bytes;
  }

  private static ClassLoader loader(byte[] cache) throws IOException {
    byte[] stream = bytes(FSDataOutputStream.class.getName());
    return new ClassLoader(PassingStreamsTest.class.getClassLoader()) {
      @Override
      protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        byte[] own =
            name.equals(CACHE)
                ? cache
                : name.equals(FSDataOutputStream.class.getName()) ? stream : null;
        Class<?> known = own == null ? super.loadClass(name, resolve) : findLoadedClass(name);
        return known == null ? defineClass(name, own, 0, own.length) : known;
      }
    };
  }

  /** A woven FSDataOutputStream. */
  private OutputStream opened(OutputStream out) throws Exception {
    Class<?> type = Class.forName(FSDataOutputStream.class.getName(), true, woven);
    return (OutputStream) type.getConstructor(OutputStream.class).newInstance(out);
  }

  private void assertBalanced() throws IOException {
    TraceReader.Page page = TraceReader.only(directory).page();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_UNBALANCED)).isZero();
    assertThat(page.counters().get(Schema.PROCESS_COUNTER_FAULTS)).isZero();
  }

  @Test
  void theClassIsValid() throws Exception {
    new ClassReader(wovenCache())
        .accept(new CheckClassAdapter(new ClassWriter(0), true), ClassReader.EXPAND_FRAMES);
  }

  @Test
  void whatIFilePassesOnCountsOnce() throws Exception {
    IFileOutputStream checked = new IFileOutputStream(file);
    OutputStream spill = opened(checked);
    for (int i = 0; i < 1000; i++) {
      spill.write('x');
    }
    spill.write(new byte[50]);
    checked.finish();

    assertThat(HooksForTests.sums(directory)).containsExactly("62: 1002 calls 1054 B 0 errors");
    assertThat(written.size()).isEqualTo(1054);
    assertBalanced();
  }

  @Test
  void inFrontOfACodecNothingCounts() throws Exception {
    OutputStream spill = opened(new HalfOutputStream(new IFileOutputStream(file)));
    for (int i = 0; i < 1000; i++) {
      spill.write('x');
    }

    assertThat(HooksForTests.sums(directory)).containsExactly("62: 500 calls 500 B 0 errors");
    assertThat(written.size()).isEqualTo(500);
  }

  @Test
  void aFailureOnTheWayThroughLeavesTheCallAroundItOpen() throws Exception {
    OutputStream spill = opened(new IFileOutputStream(file));
    OutputStream around =
        opened(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                assertThatThrownBy(() -> spill.write('!')).hasMessage("the checksum broke");
                spill.write(b);
              }
            });
    around.write('a');
    around.write('b');

    assertThat(HooksForTests.sums(directory))
        .containsExactly("61: 2 calls 2 B 0 errors", "62: 2 calls 2 B 0 errors");
    assertBalanced();
  }

  @Test
  void aRecordingMayBeginAndEndOnTheWayThrough() throws Exception {
    boolean[] on = {true};
    OutputStream inside =
        new OutputStream() {
          @Override
          public void write(int b) {
            on[0] = !on[0];
            Hooks.record(on[0]);
          }
        };
    OutputStream spill = opened(new IFileOutputStream(inside));
    for (int i = 0; i < 10; i++) {
      spill.write('x');
    }
    Hooks.record(true);

    assertThat(HooksForTests.sums(directory)).isEmpty();
    assertBalanced();
  }
}
