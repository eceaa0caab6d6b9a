package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Cause;
import io.iostrata.segment.Recorder;
import io.iostrata.segment.TraceReader;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CarrierTest {
  private static final Cause CAUSE = new Cause(0, 1, -2, Long.MAX_VALUE, 0, -250_000_000);

  @Test
  void textIsTheBytesInHexadecimal() {
    assertThat(Carrier.text(CAUSE))
        .isEqualTo(
            "494f5354" + "0000000000000001" + "fffffffffffffffe" + "7fffffffffffffff" + "f1194d80");
  }

  /** Anybody may send a header of that name. */
  @Test
  void otherTextsAreNoCause() {
    String ours = Carrier.text(CAUSE);
    String zeros = ours.replaceAll(".", "0");
    for (String text :
        new String[] {null, "", "x", ours + "0", "x" + ours.substring(1), "-" + zeros, zeros}) {
      assertThat(Carrier.cause(text, "job_1_1")).as(text).isNull();
    }
    assertThat(Carrier.cause("-" + zeros.substring(1), "")).isNull();
    String tooMany = ours.replace("f1194d80", "3b9aca01");
    assertThat(Carrier.cause(tooMany, "")).as("of a billion requests, a billion and one").isNull();
  }

  /** A DataNode's own rows say the task, though a client's name says the executor alone. */
  @Test
  void theNameOfATaskTravelsWithTheCause(@TempDir Path directory) throws Exception {
    String task = "application_17_0001_stage_3.0_task_7.1";
    Recorder recorder = HooksForTests.begin(directory, PointTable.parse(""));
    try {
      int here = TaskNames.context(task, "");
      byte[] bytes = Carrier.bytes(new Cause(here, 1, 0xABC, 3, 0, 0));
      assertThat(bytes).hasSize(Carrier.SIZE + task.length());
      Cause received = Carrier.cause(bytes, 0);
      String text = Carrier.text(new Cause(here, 1, 0xABC, 3, 0, 0));
      assertThat(Carrier.cause(text, "").context).isEqualTo(received.context);

      TraceReader trace = TraceReader.only(directory).peek();
      assertThat(trace.name(here)).isEqualTo("\tapplication_17_0001\t" + task + "\tstage 3.0\t");
      assertThat(trace.name(received.context))
          .isEqualTo("\tapplication_17_0001\t" + task + "\tstage 3.0\t#abc");

      // a DataNode keeps the name of the client, by which its collector knows the run
      Probe probe = Probe.current();
      probe.received = received;
      int named = (int) new ClientContext().of(probe, "DFSClient_NONMAPREDUCE_1_2", null);
      assertThat(TraceReader.only(directory).peek().name(named))
          .isEqualTo("\tapplication_17_0001\t" + task + "\tstage 3.0\tDFSClient_NONMAPREDUCE_1_2");
      // and passes it on to the next one
      assertThat(Carrier.bytes(new Cause(named, 1, 5, 3, 0, 0)))
          .hasSize(Carrier.SIZE + task.length());

      for (String other : new String[] {"a_stage_1.0_task_1", "\t", "x".repeat(201)}) {
        byte[] none = Arrays.copyOf(bytes, Carrier.SIZE + other.length());
        System.arraycopy(other.getBytes(), 0, none, Carrier.SIZE, other.length());
        assertThat(Carrier.cause(none, 0)).as(other).isNull();
      }
    } finally {
      Probe.current().pendingCause = null;
      TaskNames.forget();
      HooksForTests.end();
      recorder.close();
    }
  }
}
