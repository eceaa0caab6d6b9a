package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.agent.programs.ExitProgram;
import io.iostrata.agent.programs.FileProgram;
import io.iostrata.agent.programs.HadoopProgram;
import io.iostrata.agent.programs.SwitchProgram;
import io.iostrata.agent.programs.ThreadProgram;
import io.iostrata.segment.Schema;
import io.iostrata.segment.TraceReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The real jar in real JVMs: what is recorded, and that the program notices nothing. */
class AgentTest {
  static List<Jdks.Jdk> jdks() throws Exception {
    return Jdks.all();
  }

  private static String startLine(TracedJvm jvm, String what) {
    return "iostrata " + Agent.VERSION + ": " + what.replace("DIR", jvm.traces.toString()) + "\n";
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void everyCallOfAFileIsRecorded(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      TracedJvm.Output traced = jvm.traced(FileProgram.class);

      assertThat(traced.err()).startsWith(startLine(jvm, "recording to DIR"));
      List<String> calls = jvm.calls();
      assertThat(calls)
          .containsOnlyOnce("FileInputStream.read([BII)I 20/20 stream.txt inner") // of readNBytes
          .filteredOn(call -> !call.contains(" inner"))
          .containsExactly(
              "FileOutputStream.write(I)V 1/1 stream.txt",
              "FileOutputStream.write([B)V 99/99 stream.txt",
              "FileOutputStream.write([BII)V 50/50 stream.txt",
              "FileInputStream.read()I 1/1 stream.txt",
              "FileInputStream.read([B)I 100/100 stream.txt",
              "FileInputStream.read([BII)I 25/25 stream.txt",
              "FileInputStream.readNBytes(I)[B 20/20 stream.txt",
              "FileInputStream.read([BII)I 4/100 stream.txt",
              "FileInputStream.read([B)I 0/100 stream.txt",
              "FileInputStream.read()I 0/1 stream.txt",
              "RandomAccessFile.write(I)V 1/1 random.xml",
              "RandomAccessFile.write([B)V 10/10 random.xml",
              "RandomAccessFile.write([BII)V 5/5 random.xml",
              "RandomAccessFile.writeBytes(Ljava/lang/String;)V 4/4 random.xml",
              "RandomAccessFile.read()I 1/1 random.xml",
              "RandomAccessFile.read([B)I 8/8 random.xml",
              "RandomAccessFile.read([BII)I 4/4 random.xml",
              "RandomAccessFile.read([BII)I 7/7 random.xml",
              "FileChannelImpl.write(Ljava/nio/ByteBuffer;)I 1000/1000 from",
              "FileChannelImpl.write(Ljava/nio/ByteBuffer;J)I 24/24 @1000 from",
              "FileChannelImpl.write([Ljava/nio/ByteBuffer;II)J 3/0 from",
              "FileChannelImpl.read(Ljava/nio/ByteBuffer;J)I 24/100 @1000 from",
              "FileChannelImpl.transferTo(JJLjava/nio/channels/WritableByteChannel;)J 512/512"
                  + " @0 from",
              "FileChannelImpl.transferFrom(Ljava/nio/channels/ReadableByteChannel;JJ)J 100/100"
                  + " @512 to",
              "FileChannelImpl.read(Ljava/nio/ByteBuffer;)I 4/10 from",
              "FileChannelImpl.read(Ljava/nio/ByteBuffer;)I 0/10 from",
              "FileChannelImpl.force(Z)V 0/0 to",
              "FileOutputStream.write([B)V 7/7 blk_1073741825",
              "FileInputStream.read([B)I 7/100 blk_1073741825",
              "FileOutputStream.write([B)V 7/7 blk_1073741825_1001.meta",
              "FileInputStream.read([B)I 7/100 blk_1073741825_1001.meta",
              "FileInputStream.read([B)I 0/10 stream.txt java.io.IOException",
              "FileInputStream.read([BII)I 0/1 stream.txt java.lang.NullPointerException");
      TraceReader trace = jvm.trace();
      assertThat(trace.entries().values())
          .filteredOn(entry -> entry.name().startsWith(jvm.files.toString()))
          .extracting(
              entry ->
                  entry.name().substring(entry.name().lastIndexOf('/') + 1)
                      + (" " + entry.category() + " " + entry.block() + " " + entry.generation()))
          .containsExactlyInAnyOrder(
              "stream.txt " + Schema.CATEGORY_FILE + " -1 -1",
              "random.xml " + Schema.CATEGORY_XML + " -1 -1",
              "from " + Schema.CATEGORY_FILE + " -1 -1",
              "to " + Schema.CATEGORY_FILE + " -1 -1",
              "blk_1073741825 " + Schema.CATEGORY_BLK + " 1073741825 -1",
              "blk_1073741825_1001.meta " + Schema.CATEGORY_BLK_META + " 1073741825 1001");
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theProgramPrintsTheSame(Jdks.Jdk jdk) throws Exception {
    for (Class<?> program :
        List.of(FileProgram.class, ThreadProgram.class, ExitProgram.class, HadoopProgram.class)) {
      try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
        TracedJvm.Output untraced = jvm.untraced(program);
        TracedJvm.Output traced = jvm.traced(program);

        assertThat(traced.out()).isEqualTo(untraced.out());
        assertThat(traced.err()).isEqualTo(startLine(jvm, "recording to DIR") + untraced.err());
        assertThat(traced.exit()).isEqualTo(untraced.exit());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void threadsLoseNoCount(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      jvm.traced(ThreadProgram.class);

      TraceReader trace = jvm.trace();
      long reads = 0;
      long bytes = 0;
      for (TraceReader.Row row : trace.rows()) {
        if (row.point() == 2 && row.category() == Schema.CATEGORY_FILE) {
          reads += row.count();
          bytes += row.bytes();
        }
      }
      assertThat(reads).isEqualTo(3 * 8 * 5_000);
      assertThat(bytes).isEqualTo(3 * 8 * 5_000 * 100);
      assertThat(trace.page().counters().subList(0, 3)).containsExactly(0L, 0L, 0L);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void theEndComesAfterTheLastShutdownHook(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      assertThat(jvm.traced(ExitProgram.class).exit()).isEqualTo(42);

      assertThat(jvm.calls()).containsExactly("FileOutputStream.write([B)V 11/11 hook");
      assertThat(jvm.trace().page().state()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void hadoopCallsBelongToBlocksAndClients(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      jvm.traced(HadoopProgram.class);

      TraceReader trace = jvm.trace();
      assertThat(
              trace.slots().stream()
                  .filter(slot -> slot.point() == 120 || slot.kind().equals("context"))
                  .map(slot -> slot.kind() + " " + describe(trace, slot.targetId())))
          .containsExactly(
              "context \t\t\t\tDFSClient_a",
              "begin BP-1 blk_1073741825 1001",
              "call BP-1 blk_1073741825 1001",
              "context null",
              "context \t\t\t\tDFSClient_b",
              "begin BP-1 blk_1073741825 1001",
              "call BP-1 blk_1073741825 1001",
              "context null");
      assertThat(jvm.calls())
          .containsExactly(
              "FileOutputStream.write([B)V 100/100 blk_1073741825",
              "FileInputStream.read([B)I 30/30 blk_1073741825",
              "FileInputStream.read([B)I 40/40 blk_1073741825",
              "FileInputStream.read([B)I 50/50 blk_1073741825",
              "FileOutputStream.write(I)V 1/1 spill0.out",
              "FileOutputStream.write([BII)V 20/20 spill0.out");
    }
  }

  private static String describe(TraceReader trace, int target) {
    TraceReader.Entry entry = trace.entry(target);
    return entry == null
        ? "null"
        : entry.name()
            + (entry.block() < 0 ? "" : " blk_" + entry.block() + " " + entry.generation());
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void countedOnlyCallsAreSummedExactly(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      jvm.traced(HadoopProgram.class);

      TraceReader trace = jvm.trace();
      assertThat(
              trace.rows().stream()
                  .filter(row -> row.point() == 61 || row.point() == 62)
                  .map(
                      row ->
                          row.point()
                              + (" category " + row.category())
                              + (" count " + row.count())
                              + (" bytes " + row.bytes())
                              + (" errors " + row.errors())))
          .containsExactlyInAnyOrder(
              "61 category 23 count 10001 bytes 10000 errors 1",
              "62 category 23 count 1 bytes 345 errors 0",
              "61 category 19 count 1 bytes 1 errors 0",
              "62 category 19 count 1 bytes 20 errors 0");
      assertThat(trace.calls()).noneMatch(call -> call.point() == 61 || call.point() == 62);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void aFaultSwitchesOnlyItsPointOff(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      TracedJvm.Output output = jvm.traced(HadoopProgram.class);

      // 50 bytes, the broken pipeline, three times a status
      assertThat(output.out())
          .isEqualTo("50\nthe pipeline broke at /out/part-0\ntrue\ntrue\ntrue\n");
      TraceReader trace = jvm.trace();
      int point = 80;
      assertThat(trace.calls().stream().filter(call -> call.point() == point)).hasSize(1);
      assertThat(trace.pointState(point)).isEqualTo(Schema.POINT_STATE_FAULTED);
      assertThat(trace.pointFaults(point)).isEqualTo(1);
      assertThat(trace.page().counters().get(Schema.PROCESS_COUNTER_FAULTS)).isEqualTo(1);
      assertThat(trace.entries().values())
          .extracting(TraceReader.Entry::name)
          .contains("80\tjava.lang.IllegalStateException: a path that cannot say its name");
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void withoutARunNothingIsWrittenButWhoItIs(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk)) {
      TracedJvm.Output output = jvm.traced(ThreadProgram.class, "an", "argument");

      assertThat(output.err()).isEqualTo(startLine(jvm, "ready in DIR, off"));
      assertThat(jvm.trace().slotCount()).isZero();
      assertThat(jvm.trace().page().text())
          .startsWith(
              "main=io.iostrata.agent.programs.ThreadProgram\nargs="
                  + (jvm.files + " an argument\nagent=0.1.0\njvm=" + jdk.version()));
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void recordingIsSwitchedWhileItRuns(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk)) {
      Files.write(jvm.files.resolve("control"), TracedJvm.controlPage(7));
      jvm.traced(SwitchProgram.class);

      assertThat(jvm.calls()).containsExactly("FileOutputStream.write([B)V 2/2 on");
      assertThat(jvm.trace().page().seenControl()).isEqualTo(7);
    }
    try (TracedJvm jvm = new TracedJvm(jdk).control(7)) {
      Files.write(jvm.files.resolve("control"), TracedJvm.controlPage(8, 12));
      jvm.traced(SwitchProgram.class);

      assertThat(jvm.calls()).containsExactly("FileOutputStream.write([B)V 1/1 off");
      assertThat(jvm.trace().page().seenControl()).isEqualTo(8);
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void whatCannotBeTracedRunsAllTheSame(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      assertThat(startLineOf(jvm, "-javaagent:" + TracedJvm.JAR + "=dir=/nowhere/at/all"))
          .startsWith(
              "iostrata 0.1.0: not tracing: /nowhere/at/all does not exist; in a container");
      assertThat(startLineOf(jvm, "-javaagent:" + TracedJvm.JAR + "=dri=/tmp"))
          .isEqualTo(
              "iostrata 0.1.0: not tracing: option dri=/tmp is none of"
                  + " dir=DIRECTORY, run=RUN, cap=BYTES\n");
      assertThat(startLineOf(jvm, "-javaagent:" + TracedJvm.JAR + "=dir=/proc"))
          .startsWith("iostrata 0.1.0: not tracing: cannot make /proc/");
      Path renamed = Files.copy(TracedJvm.JAR, jvm.root.resolve("other.jar"));
      assertThat(startLineOf(jvm, "-javaagent:" + renamed + "=dir=" + jvm.traces))
          .isEqualTo(
              "iostrata 0.1.0: not tracing: the agent's jar has been renamed: call it"
                  + " iostrata-agent.jar\n");
      assertThat(TraceReader.processes(jvm.traces)).isEmpty();
    }
  }

  /** What the agent says; the program must do what it always does. */
  private static String startLineOf(TracedJvm jvm, String agent) throws Exception {
    TracedJvm.Output output = jvm.run(List.of(agent), ThreadProgram.class);
    assertThat(output.out()).isEqualTo("done\n");
    assertThat(output.exit()).isZero();
    return output.err();
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void anotherAgentMayRetransformTheSameClasses(Jdks.Jdk jdk) throws Exception {
    try (TracedJvm jvm = new TracedJvm(jdk).control(1)) {
      Path other = OtherAgent.jar(jvm.root.resolve("other-agent.jar"));
      for (List<String> agents :
          List.of(
              List.of(jvm.agent(), "-javaagent:" + other),
              List.of("-javaagent:" + other, jvm.agent()),
              List.of(jvm.agent(), jvm.agent()))) {
        TracedJvm.Output output = jvm.run(agents, ExitProgram.class);

        assertThat(output.exit()).isEqualTo(42);
        List<Path> processes = TraceReader.processes(jvm.traces);
        TraceReader last = new TraceReader(processes.get(processes.size() - 1)).peek();
        assertThat(last.calls().stream().filter(call -> call.point() == 12 && call.bytes() == 11))
            .hasSize(1);
        TracedJvm.delete(jvm.traces.resolve(Integer.toString(last.page().uid())));
      }
    }
  }
}
