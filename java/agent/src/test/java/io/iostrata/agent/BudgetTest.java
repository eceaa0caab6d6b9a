package io.iostrata.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.iostrata.segment.Schema;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** A process with points of known cost, second by second. */
class BudgetTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int ONE_PERCENT = 10_000;

  // Two that may be summed and one that may not: FileInputStream#read, #readAllBytes, #open.
  private static final int READ = 3;
  private static final int READ_ALL = 4;
  private static final int FLOOR = floor();

  private final Budget budget = new Budget();
  private final double[] calls = new double[Schema.PROCESS_MAX_POINTS];
  private final long[] kept = new long[Schema.PROCESS_MAX_POINTS];
  private final long[] summed = new long[Schema.PROCESS_MAX_POINTS];
  private long cpu = SECOND;
  private long thread = SECOND / 2000;
  private int eventCost = 1000;
  private double share;

  private static int floor() {
    return IntStream.range(1, Schema.PROCESS_FIRST_USER_POINT)
        .filter(i -> !Schema.summedUnderBudget(i))
        .findFirst()
        .orElseThrow();
  }

  private void point(int id, double calls, long kept, long summed) {
    this.calls[id] = calls;
    this.kept[id] = kept;
    this.summed[id] = summed;
  }

  /** Seconds at a budget; the share of the last one is what it cost. */
  private void pass(int seconds, int millionths) {
    for (int second = 0; second < seconds; second++) {
      Budget.Window window = new Budget.Window();
      window.wall = SECOND;
      window.cpu = cpu;
      window.thread = thread;
      window.eventCost = eventCost;
      window.points = IntStream.range(1, calls.length).filter(i -> calls[i] > 0).toArray();
      for (int i = 0; i < calls.length; i++) {
        long hooks = (long) (2 * calls[i]);
        window.hooks[i] = hooks;
        window.nanos[i] = hooks * (budget.summed(i) ? summed[i] : kept[i]);
        window.slots += budget.summed(i) ? 0 : (long) calls[i];
      }
      share = (double) window.spent() / cpu;
      budget.choose(window, millionths);
    }
  }

  @Test
  void whatCostsMostGoesFirst() {
    point(READ, 20_000, 200, 60); // with its slots 28 ms
    point(READ_ALL, 1_000, 200, 60); // 1.4 ms
    pass(5, ONE_PERCENT);
    assertTrue(budget.summed(READ));
    assertFalse(budget.summed(READ_ALL));
    assertTrue(share < 0.01, () -> "share " + share);
    assertFalse(budget.over());
  }

  @Test
  void whenLoadFallsAllIsKeptAgain() {
    point(READ, 20_000, 200, 60);
    point(READ_ALL, 20_000, 200, 60);
    pass(5, ONE_PERCENT);
    assertTrue(budget.summed(READ) && budget.summed(READ_ALL));
    point(READ, 500, 200, 60);
    point(READ_ALL, 500, 200, 60);
    pass(40, ONE_PERCENT);
    assertFalse(budget.summed(READ) || budget.summed(READ_ALL));
  }

  @Test
  void theFloorIsKeptWhateverItCosts() {
    point(FLOOR, 50_000, 200, 60);
    point(READ, 50_000, 200, 60);
    pass(5, ONE_PERCENT);
    assertTrue(budget.summed(READ));
    assertFalse(budget.summed(FLOOR));
    assertTrue(budget.over());
  }

  @Test
  void withoutBudgetAllIsKept() {
    point(READ, 1e6, 200, 60);
    pass(5, ONE_PERCENT);
    assertTrue(budget.summed(READ));
    pass(1, 0);
    assertFalse(budget.summed(READ) || budget.over());
  }

  @Test
  void anIdleProcessMayBeTraced() {
    cpu = SECOND / 1000; // the agent's own thread alone is half of that
    point(READ, 10, 2000, 500);
    pass(20, ONE_PERCENT);
    assertFalse(budget.summed(READ) || budget.over());
  }

  @Test
  void anOverdraftIsSavedLater() {
    point(READ, 200_000, 200, 60); // 28 % for one second
    pass(1, ONE_PERCENT);
    point(READ, 4_000, 200, 60); // 0.6 %: within the budget, but not while something is owed
    pass(2, ONE_PERCENT);
    assertTrue(budget.summed(READ));
    pass(60, ONE_PERCENT);
    assertFalse(budget.summed(READ));
  }

  @RepeatedTest(100)
  void withinTheBudgetWheneverThatIsPossible(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    int points = 1 + random.nextInt(20);
    double floor = 0;
    for (int i = 0; i < points; i++) {
      int id = Schema.PROCESS_FIRST_USER_POINT + i;
      long price = 100 + random.nextInt(400);
      point(id, Math.exp(random.nextDouble() * 10), price, price / (2 + random.nextInt(8)));
      floor += 2 * calls[id] * summed[id];
    }
    floor += thread;
    pass(10, ONE_PERCENT);
    int changes = 0;
    double most = 0;
    for (int second = 0; second < 100; second++) {
      boolean[] before = choice();
      pass(1, ONE_PERCENT);
      most = Math.max(most, share);
      boolean[] after = choice();
      for (int i = 0; i < before.length; i++) {
        changes += before[i] != after[i] ? 1 : 0;
      }
    }
    assertEquals(floor > 0.01 * cpu, budget.over(), "over");
    assertTrue(most <= Math.max(0.01, floor / cpu * 1.01), "share " + most);
    // Under a steady load a choice holds; what is owed may bring a point back and take it again.
    assertTrue(changes <= 2 * points, changes + " changes of " + points + " points");
  }

  private boolean[] choice() {
    boolean[] summed = new boolean[Schema.PROCESS_MAX_POINTS];
    for (int i = 0; i < summed.length; i++) {
      summed[i] = budget.summed(i);
    }
    return summed;
  }
}
