package io.iostrata.jobs.requests;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.HdrHistogram.AbstractHistogram;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/**
 * What became of the requests of a trial. Each that was issued has completed, failed, was not
 * started, or was dropped because too many waited.
 *
 * <p>Latency is from the time a request was due, so that waiting counts; service from when a worker
 * took it. Both of what completed, in ns with three digits.
 */
final class Measured {
  private static final long LEAST = 1_000;
  private static final long MOST = 3_600_000_000_000L;
  private static final int DIGITS = 3;

  /** Of one operation; by many threads. */
  private static final class Of {
    final AtomicHistogram latency = new AtomicHistogram(LEAST, MOST, DIGITS);
    final AtomicHistogram service = new AtomicHistogram(LEAST, MOST, DIGITS);
    final LongAdder bytes = new LongAdder();
    final Map<String, LongAdder> errors = new ConcurrentHashMap<>();

    long failed() {
      return errors.values().stream().mapToLong(LongAdder::sum).sum();
    }
  }

  private final double rate;
  private final double seconds;
  private final Map<Operation, Of> operations = new EnumMap<>(Operation.class);
  private final LongAdder inTime = new LongAdder();
  private final Histogram late = new Histogram(LEAST, MOST, DIGITS);
  private long planned;
  private long issued;
  private long dropped;
  private long notStarted;
  private long mostWaiting;
  private long dispatcherCpu;
  private long processCpu;
  private long took;

  Measured(double rate, double seconds) {
    this.rate = rate;
    this.seconds = seconds;
    for (Operation operation : Operation.values()) {
      operations.put(operation, new Of());
    }
  }

  // by the dispatcher

  void plan(long sessions) {
    planned = sessions;
  }

  /** {@code lateBy}: ns after it was due; {@code waiting}: those before it. */
  void issue(long lateBy, int waiting) {
    issued++;
    late.recordValue(Math.min(lateBy, MOST));
    mostWaiting = Math.max(mostWaiting, waiting);
  }

  void drop() {
    dropped++;
  }

  void dispatch(long cpu) {
    dispatcherCpu = cpu;
  }

  void leave(long count) {
    notStarted = count;
  }

  /** {@code took}: ns from the beginning until the last was done. */
  void end(long cpu, long ns) {
    processCpu = cpu;
    took = ns;
  }

  // by workers

  void complete(Operation operation, long latency, long service, long bytes, boolean early) {
    Of of = operations.get(operation);
    of.latency.recordValue(Math.min(latency, MOST));
    of.service.recordValue(Math.min(service, MOST));
    of.bytes.add(bytes);
    if (early) {
      inTime.increment();
    }
  }

  void fail(Operation operation, Exception error) {
    String name = error.getClass().getSimpleName();
    operations.get(operation).errors.computeIfAbsent(name, key -> new LongAdder()).increment();
  }

  // afterwards

  long issued() {
    return issued;
  }

  long completed() {
    return all(of -> of.latency).getTotalCount();
  }

  long failed() {
    return operations.values().stream().mapToLong(Of::failed).sum();
  }

  long dropped() {
    return dropped;
  }

  long notStarted() {
    return notStarted;
  }

  /** Of what was issued, the share that completed before the end. */
  double kept() {
    return issued == 0 ? 1 : inTime.sum() / (double) issued;
  }

  /** Latency in s below which this share of requests stayed, of all operations. */
  double latency(double share) {
    return all(of -> of.latency).getValueAtPercentile(share * 100) / 1e9;
  }

  private Histogram all(Function<Of, AbstractHistogram> kind) {
    Histogram all = new Histogram(LEAST, MOST, DIGITS);
    operations.values().forEach(of -> all.add(kind.apply(of)));
    return all;
  }

  /** JSON values; times in the units that their names end with. */
  Map<String, Object> asMap() {
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("asked_per_s", rate);
    said.put("achieved_per_s", inTime.sum() / seconds);
    said.put("duration_s", seconds);
    said.put("planned_sessions", planned);
    said.put("issued", issued);
    said.put("completed", completed());
    said.put("failed", failed());
    said.put("not_started", notStarted);
    said.put("dropped", dropped);
    said.put("most_waiting", mostWaiting);
    distribution(said, "latency_ms_", all(of -> of.latency));
    distribution(said, "service_ms_", all(of -> of.service));
    distribution(said, "arrival_error_ms_", late);
    said.put("cpu_s", processCpu / 1e9);
    said.put("cpu_cores", processCpu / (double) took);
    said.put("dispatcher_cpu_cores", dispatcherCpu / (double) took);
    return said;
  }

  /** One for each operation that was asked for. */
  List<Map<String, Object>> byOperation() {
    List<Map<String, Object>> found = new ArrayList<>();
    operations.forEach(
        (operation, of) -> {
          long count = of.latency.getTotalCount();
          if (count + of.failed() > 0) {
            Map<String, Object> said = new LinkedHashMap<>();
            said.put("operation", operation.text());
            said.put("completed", count);
            said.put("failed", of.failed());
            said.put("bytes", of.bytes.sum());
            distribution(said, "latency_ms_", of.latency);
            distribution(said, "service_ms_", of.service);
            found.add(said);
          }
        });
    return found;
  }

  /** One for each exception of each operation. */
  List<Map<String, Object>> errors() {
    List<Map<String, Object>> found = new ArrayList<>();
    operations.forEach(
        (operation, of) ->
            new TreeMap<>(of.errors)
                .forEach(
                    (name, count) -> {
                      Map<String, Object> said = new LinkedHashMap<>();
                      said.put("operation", operation.text());
                      said.put("exception", name);
                      said.put("count", count.sum());
                      found.add(said);
                    }));
    return found;
  }

  private static void distribution(
      Map<String, Object> said, String name, AbstractHistogram histogram) {
    said.put(name + "mean", histogram.getMean() / 1e6);
    said.put(name + "p50", histogram.getValueAtPercentile(50) / 1e6);
    said.put(name + "p90", histogram.getValueAtPercentile(90) / 1e6);
    said.put(name + "p99", histogram.getValueAtPercentile(99) / 1e6);
    said.put(name + "p999", histogram.getValueAtPercentile(99.9) / 1e6);
    said.put(name + "max", histogram.getMaxValue() / 1e6);
  }
}
