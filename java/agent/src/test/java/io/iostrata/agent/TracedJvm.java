package io.iostrata.agent;

import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A JVM of its own that runs a program, with the real agent or without, in a trace directory. */
final class TracedJvm implements AutoCloseable {
  static final Path JAR = Path.of("target/iostrata-agent.jar").toAbsolutePath();

  private static final Path CLASSES = Path.of("target/test-classes").toAbsolutePath();
  private static final long SECONDS = 60;

  /** What a program printed, and its exit code. */
  record Output(int exit, String out, String err) {}

  final Path root;

  /** What the agent's {@code dir} names. */
  final Path traces;

  /** Where programs put their files. */
  final Path files;

  private final Jdks.Jdk jdk;

  TracedJvm(Jdks.Jdk jdk) throws IOException {
    this.jdk = jdk;
    Path memory = Path.of("/dev/shm");
    Path below = Files.isWritable(memory) ? memory : Path.of("target").toAbsolutePath();
    root = Files.createTempDirectory(below, "iostrata-agent-test");
    traces = Files.createDirectory(root.resolve("traces"));
    files = Files.createDirectory(root.resolve("files"));
  }

  /** Puts a page there that tells agents to record (word not 0) or not. */
  TracedJvm control(int word, int... pointsOff) throws IOException {
    Files.write(traces.resolve("control"), controlPage(word, pointsOff));
    return this;
  }

  static byte[] controlPage(int word, int... pointsOff) {
    ByteBuffer page = ByteBuffer.allocate(Schema.CONTROL_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    page.putInt(Schema.PREAMBLE_MAGIC, Schema.MAGIC);
    page.putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    page.putShort(Schema.PREAMBLE_FILE_KIND, (short) Schema.FILE_KIND_CONTROL);
    page.putInt(Schema.CONTROL_WORD, word);
    for (int point : pointsOff) {
      int at = Schema.CONTROL_POINTS_OFF + point / 8;
      page.put(at, (byte) (page.get(at) | 1 << point % 8));
    }
    return page.array();
  }

  Output untraced(Class<?> program, String... arguments) throws Exception {
    return run(List.of(), program, arguments);
  }

  Output traced(Class<?> program, String... arguments) throws Exception {
    return run(List.of(agent()), program, arguments);
  }

  String agent() {
    return "-javaagent:" + JAR + "=dir=" + traces;
  }

  Output run(List<String> options, Class<?> program, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(jdk.home().resolve("bin/java").toString());
    command.add("-Xverify:all");
    command.add("-XX:-PrintWarnings"); // -Xverify is deprecated, says JDK 17
    command.addAll(options);
    command.addAll(List.of("-cp", CLASSES.toString(), program.getName(), files.toString()));
    command.addAll(List.of(arguments));
    Path out = root.resolve("out");
    Path err = root.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(command + " still runs after " + SECONDS + " s");
    }
    return new Output(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** What the only traced process left behind. */
  TraceReader trace() throws IOException {
    return TraceReader.only(traces).peek();
  }

  /**
   * The calls on files of the program, one a line in the order of their ends: {@code point op bytes
   * of asked @offset file}.
   */
  List<String> calls() throws IOException {
    TraceReader trace = trace();
    List<String> lines = new ArrayList<>();
    for (TraceReader.Slot call : trace.calls()) {
      String target = trace.name(call.targetId());
      if (target != null && target.startsWith(files + "/")) {
        String inner = (call.flags() & Schema.FLAG_INNER) != 0 ? " inner" : "";
        String error = (call.flags() & Schema.FLAG_ERROR) != 0 ? " " + trace.name(call.ret()) : "";
        lines.add(
            PointNames.of(call.point())
                + (" " + call.bytes() + "/" + call.asked())
                + (call.offset() < 0 ? "" : " @" + call.offset())
                + (" " + target.substring(files.toString().length() + 1) + inner + error));
      }
    }
    return lines;
  }

  @Override
  public void close() throws IOException {
    delete(root);
  }

  static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(path);
      }
    }
  }
}
