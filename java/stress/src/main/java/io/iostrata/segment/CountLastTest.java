package io.iostrata.segment;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A row cut short, whatever its version: it never counts a call whose bytes are missing. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "before")
@Outcome(id = "0, 5", expect = Expect.ACCEPTABLE, desc = "in flight")
@Outcome(id = "1, 5", expect = Expect.ACCEPTABLE, desc = "after")
@Outcome(expect = Expect.FORBIDDEN, desc = "counted without its bytes")
@State
public class CountLastTest {
  private static final int AT = Schema.SEGMENT_HEADER;

  private final Segment segment = Arena.segment(1);
  private final RowLog row = new RowLog(0, 0, AT);

  @Actor
  public void producer() {
    row.add(segment, 5, 0, false, Row.UNTIMED, 0);
  }

  @Actor
  public void consumer(JJ_Result result) {
    result.r1 = segment.memory.getLong(AT + Schema.ROW_COUNT);
    VarHandle.acquireFence();
    result.r2 = segment.memory.getLong(AT + Schema.ROW_BYTES);
  }
}
