package io.iostrata.jobs.swim;

import org.apache.hadoop.conf.Configuration;

/** What a task finds in its configuration. */
final class ReplaySettings {
  static final String PREFIX = "iostrata.swim.";
  static final String RECORD = PREFIX + "record"; // bytes of a record that is shuffled or written
  static final String RANDOM = PREFIX + "random"; // share of bytes that do not compress
  static final String SEED = PREFIX + "seed";
  static final String KEEP = PREFIX + "keep"; // whether outputs stay when their job has ended
  private static final String FILE = PREFIX + "file";
  private static final String INPUT = PREFIX + "input";
  private static final String SHUFFLE = PREFIX + "shuffle";
  private static final String OUTPUT = PREFIX + "output";
  private static final String MAPS = PREFIX + "maps";
  private static final String REDUCES = PREFIX + "reduces";
  private static final String JOB = PREFIX + "job";

  final String file;
  final long input;
  final long shuffle;
  final long output;
  final int maps;
  final int reduces;
  private final int record;
  private final double random;
  private final long seed;

  ReplaySettings(Configuration from) {
    file = from.get(FILE);
    input = from.getLong(INPUT, 0);
    shuffle = from.getLong(SHUFFLE, 0);
    output = from.getLong(OUTPUT, 0);
    maps = from.getInt(MAPS, 1);
    reduces = from.getInt(REDUCES, 0);
    record = from.getInt(RECORD, 1 << 16);
    random = from.getDouble(RANDOM, 1);
    seed = from.getLong(SEED, 0) * 31 + from.getInt(JOB, 0);
  }

  static void write(PlannedJob job, String file, Configuration to) {
    to.set(FILE, file);
    to.setLong(INPUT, job.input);
    to.setLong(SHUFFLE, job.shuffle);
    to.setLong(OUTPUT, job.output);
    to.setInt(MAPS, job.maps);
    to.setInt(REDUCES, job.reduces);
    to.setInt(JOB, job.index);
  }

  /** What the tasks of one kind write: others than those of the other kind. */
  Content content(int task, boolean reduce) {
    return new Content(record, random, (seed * 2 + (reduce ? 1 : 0)) * 1_000_003 + task);
  }
}
