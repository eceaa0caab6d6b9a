package io.iostrata.segment;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;

/** A slot is not written again before the consumer has read it. */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "the slot as it was published")
@Outcome(expect = Expect.FORBIDDEN, desc = "the slot was overwritten while it was read")
@State
public class FreedSlotTest {
  private final Segment segment = Arena.segment(1);

  public FreedSlotTest() {
    Arena.append(segment, 1);
  }

  @Actor
  public void producer() {
    if (segment.room() > 0) {
      Arena.append(segment, 2);
    }
  }

  @Actor
  public void consumer(J_Result result) {
    result.r1 = Arena.slot(segment, 0);
    VarHandle.releaseFence();
    segment.memory.putLong(Schema.SEGMENT_TAIL, 1);
  }
}
