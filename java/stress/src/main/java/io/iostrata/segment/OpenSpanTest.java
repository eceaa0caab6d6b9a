package io.iostrata.segment;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IJJ_Result;

/** What lies below the depth that was read is whole. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "nothing open")
@Outcome(id = "1, 7, 7", expect = Expect.ACCEPTABLE, desc = "one span, whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "a span was seen before it was whole")
@State
public class OpenSpanTest {
  private final Segment segment = Arena.segment(1);

  @Actor
  public void producer() {
    segment.open(0, 7, 7, 7, 7);
  }

  @Actor
  public void consumer(IJJ_Result result) {
    int depth = segment.memory.getInt(Schema.SEGMENT_OPEN_DEPTH);
    VarHandle.acquireFence();
    result.r1 = depth;
    if (depth > 0) {
      result.r2 = segment.memory.getLong(Schema.SEGMENT_OPEN + Schema.OPEN_SPAN_SPAN);
      result.r3 = segment.memory.getLong(Schema.SEGMENT_OPEN + Schema.OPEN_SPAN_TARGET);
    }
  }
}
