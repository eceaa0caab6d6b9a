package io.iostrata.jobs.swim;

import java.io.IOException;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Mapper;

/** Reads its split, and writes its share: of the shuffle, or of the output where no reduce is. */
public final class ReadMap extends Mapper<NullWritable, Chunk, Target, Chunk> {
  @Override
  public void run(Context context) throws IOException, InterruptedException {
    ReplaySettings asked = new ReplaySettings(context.getConfiguration());
    int map = context.getTaskAttemptID().getTaskID().getId();
    Content content = asked.content(map, false);
    Emitter emitter =
        asked.reduces == 0
            ? new Emitter(context, content, Shares.share(asked.output, asked.maps, map))
            : new Emitter(
                context, content, Shares.row(asked.shuffle, asked.maps, asked.reduces, map));
    double length = context.getInputSplit().getLength();
    long read = 0;
    while (context.nextKeyValue()) {
      read += context.getCurrentValue().length();
      emitter.upTo(read / length);
    }
    emitter.upTo(1);
  }
}
