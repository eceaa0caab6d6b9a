package io.iostrata.segment;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A slot below the head that was read is whole. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "nothing published yet")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "one slot, whole")
@Outcome(id = "2, 2", expect = Expect.ACCEPTABLE, desc = "two slots, the last whole")
@Outcome(expect = Expect.FORBIDDEN, desc = "a slot was seen before it was whole")
@State
public class PublishedSlotTest {
  private final Segment segment = Arena.segment(2);

  @Actor
  public void producer() {
    Arena.append(segment, 1);
    Arena.append(segment, 2);
  }

  @Actor
  public void consumer(JJ_Result result) {
    long head = segment.memory.getLong(Schema.SEGMENT_HEAD);
    VarHandle.acquireFence();
    result.r1 = head;
    result.r2 = head == 0 ? 0 : Arena.slot(segment, head - 1);
  }
}
