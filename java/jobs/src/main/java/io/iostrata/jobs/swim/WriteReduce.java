package io.iostrata.jobs.swim;

import java.io.IOException;
import org.apache.hadoop.mapreduce.Reducer;

/** Reads what was shuffled to it, and writes its share of the output. */
public final class WriteReduce extends Reducer<Target, Chunk, Target, Chunk> {
  @Override
  public void run(Context context) throws IOException, InterruptedException {
    ReplaySettings asked = new ReplaySettings(context.getConfiguration());
    int reduce = context.getTaskAttemptID().getTaskID().getId();
    long share = Shares.share(asked.output, asked.reduces, reduce);
    Emitter emitter = new Emitter(context, asked.content(reduce, true), share);
    double expected = Shares.column(asked.shuffle, asked.maps, asked.reduces, reduce);
    long received = 0;
    while (context.nextKey()) {
      for (Chunk chunk : context.getValues()) {
        received += chunk.length();
        emitter.upTo(received / expected);
      }
    }
    emitter.upTo(1);
  }
}
