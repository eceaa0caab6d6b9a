package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Requests at one rate for some time. The thread that runs it hands each over to the workers when
 * it is due, however many have not been done yet: an open loop. Within a session the next request
 * is due some time after the one before is done (partly open: Schroeder et al., NSDI 2006).
 *
 * <p>All times are in ns since the beginning.
 */
final class Trial {
  /** Before the beginning, so that the first request is not late. */
  private static final long LEAD = 20_000_000;

  /** How long what was started may take at the end, s. */
  private static final long PATIENCE = 60;

  private final Settings settings;
  private final Work work;
  private final double rate;
  private final long seed;
  private final long stop;
  private final Measured measured;
  private final PriorityBlockingQueue<Session> thinking = new PriorityBlockingQueue<>();
  private final ThreadPoolExecutor workers;
  private final Set<Work> open = ConcurrentHashMap.newKeySet(); // of sessions
  private final Thread dispatcher = Thread.currentThread();
  private long begin;

  Trial(Settings settings, Work work, double rate, double seconds, long seed) {
    this.settings = settings;
    this.work = work;
    this.rate = rate;
    this.seed = seed;
    stop = (long) (seconds * 1e9);
    measured = new Measured(rate, seconds);
    workers =
        new ThreadPoolExecutor(
            settings.threads,
            settings.threads,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(settings.limit),
            (session, pool) -> measured.drop());
  }

  /** Sessions that begin by the arrivals, counted without running them. */
  static long planned(Settings settings, double rate, double seconds, long seed)
      throws IOException {
    Arrivals arrivals = Arrivals.of(settings, rate / settings.session, seed);
    double at = arrivals.gap();
    long planned = 0;
    for (; (long) (at * 1e9) < (long) (seconds * 1e9); at += arrivals.gap()) {
      planned++;
    }
    return planned;
  }

  /** Runs on the thread that made it; what was not started at the end is not done. */
  Measured run() throws IOException, InterruptedException {
    Arrivals arrivals = Arrivals.of(settings, rate / settings.session, seed);
    measured.plan(planned(settings, rate, stop / 1e9, seed));
    workers.prestartAllCoreThreads();
    begin = System.nanoTime() + LEAD;
    Cpu cpu = new Cpu();
    try {
      dispatch(arrivals);
    } finally {
      measured.dispatch(cpu.ofThread());
      List<Runnable> waiting = new ArrayList<>();
      workers.getQueue().drainTo(waiting);
      measured.leave(waiting.size());
      end();
    }
    measured.end(cpu.ofProcess(), now());
    return measured;
  }

  private void end() throws InterruptedException {
    workers.shutdown();
    if (!workers.awaitTermination(PATIENCE, TimeUnit.SECONDS)) {
      workers.shutdownNow();
      if (!workers.awaitTermination(PATIENCE, TimeUnit.SECONDS)) {
        throw new IllegalStateException("requests do not end: " + workers.getActiveCount());
      }
    }
    open.forEach(Trial::close);
  }

  private static void close(Work work) {
    try {
      work.close();
    } catch (IOException e) {
      System.err.println("requests: a client did not close: " + e);
    }
  }

  private long now() {
    return System.nanoTime() - begin;
  }

  private void dispatch(Arrivals arrivals) {
    double at = arrivals.gap();
    Session arrival = new Session(0, at);
    while (true) {
      Session due = thinking.peek();
      if (due == null || due.intended > arrival.intended) {
        due = arrival;
      }
      long now = now();
      long wait = Math.min(due.intended, stop) - now;
      if (wait > 0) {
        // looks again afterwards: another session may have less to think
        pause(wait);
      } else if (due.intended >= stop) {
        return;
      } else if (due == arrival) {
        hand(arrival, now);
        at += arrivals.gap();
        arrival = new Session(arrival.number + 1, at);
      } else {
        hand(thinking.poll(), now);
      }
    }
  }

  /** The kernel wakes up late by some tens of µs: the end is spun, others are let before. */
  private void pause(long wait) {
    if (wait > settings.spin) {
      LockSupport.parkNanos(wait - settings.spin);
    } else {
      Thread.yield();
    }
  }

  private void hand(Session session, long now) {
    measured.issue(now - session.intended, workers.getQueue().size());
    workers.execute(session);
  }

  /** Some requests, one after the other; all of it is drawn from a stream of its own. */
  private final class Session implements Runnable, Comparable<Session> {
    private final long number;
    private final SplittableRandom random;
    private long left;
    private long intended;
    private Work mine; // none before its first request

    Session(long number, double at) {
      this.number = number;
      random = Distributions.of(seed, number);
      left = Distributions.geometric(random, settings.session);
      intended = (long) (at * 1e9);
    }

    @Override
    public int compareTo(Session other) {
      return Long.compare(intended, other.intended);
    }

    @Override
    public void run() {
      Operation operation = settings.mix.draw(random);
      long started = now();
      try {
        if (mine == null) {
          mine = work.session();
          open.add(mine);
        }
        long bytes = mine.perform(operation, random);
        long ended = now();
        measured.complete(operation, ended - intended, ended - started, bytes, ended <= stop);
      } catch (IOException | RuntimeException e) {
        measured.fail(operation, e);
      }
      left--;
      if (left > 0) {
        think();
      } else if (mine != null && open.remove(mine)) {
        close(mine); // in nobody's latency
      }
    }

    private void think() {
      intended = now() + (long) (Distributions.exponential(random, settings.think) * 1e9);
      if (intended < stop) {
        thinking.add(this);
        if (thinking.peek() == this) {
          LockSupport.unpark(dispatcher);
        }
      }
    }
  }
}
