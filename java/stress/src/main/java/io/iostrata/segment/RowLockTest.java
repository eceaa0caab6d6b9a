package io.iostrata.segment;

import java.lang.invoke.VarHandle;
import java.nio.MappedByteBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** Values read between two equal even versions belong together: 5 bytes, 7 ns a call. */
@JCStressTest
@Outcome(id = "-1, -1, -1", expect = Expect.ACCEPTABLE, desc = "being written: read again")
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "before")
@Outcome(id = "1, 5, 7", expect = Expect.ACCEPTABLE, desc = "one call")
@Outcome(id = "2, 10, 14", expect = Expect.ACCEPTABLE, desc = "two calls")
@Outcome(expect = Expect.FORBIDDEN, desc = "a torn row")
@State
public class RowLockTest {
  private static final int AT = Schema.SEGMENT_HEADER;

  private final Segment segment = Arena.segment(1);
  private final RowLog row = new RowLog(0, 0, AT);

  @Actor
  public void producer() {
    row.add(segment, 5, 0, false, 7, 1);
    row.add(segment, 5, 0, false, 7, 2);
  }

  @Actor
  public void consumer(JJJ_Result result) {
    MappedByteBuffer memory = segment.memory;
    int before = memory.getInt(AT + Schema.ROW_VERSION);
    VarHandle.acquireFence();
    long count = memory.getLong(AT + Schema.ROW_COUNT);
    long bytes = memory.getLong(AT + Schema.ROW_BYTES);
    long dur = memory.getLong(AT + Schema.ROW_TIMED_DUR);
    VarHandle.acquireFence();
    boolean whole = (before & 1) == 0 && before == memory.getInt(AT + Schema.ROW_VERSION);
    result.r1 = whole ? count : -1;
    result.r2 = whole ? bytes : -1;
    result.r3 = whole ? dur : -1;
  }
}
