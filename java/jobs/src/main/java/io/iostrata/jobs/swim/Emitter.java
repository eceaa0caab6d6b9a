package io.iostrata.jobs.swim;

import java.io.IOException;
import org.apache.hadoop.mapreduce.TaskInputOutputContext;

/** Writes what a task owes to each target, in step with what it has read. */
final class Emitter {
  private final TaskInputOutputContext<?, ?, Target, Chunk> to;
  private final Content content;
  private final long[] owed; // to each target
  private final Target target = new Target();
  private final Chunk chunk = new Chunk();
  private long total;
  private long written;
  private int next;

  Emitter(TaskInputOutputContext<?, ?, Target, Chunk> to, Content content, long... owed) {
    this.to = to;
    this.content = content;
    this.owed = owed.clone();
    for (long one : owed) {
      total += one;
    }
  }

  /** Writes until this part of all, from 0 to 1, is written. */
  void upTo(double part) throws IOException, InterruptedException {
    long goal = part < 1 ? (long) (part * total) : total;
    while (written < goal) {
      if (owed[next] > 0) {
        int count = (int) Math.min(content.most(), owed[next]);
        chunk.set(content.fill(count), count);
        target.set(next);
        to.write(target, chunk);
        owed[next] -= count;
        written += count;
      }
      next = (next + 1) % owed.length;
    }
  }
}
