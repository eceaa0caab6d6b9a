package io.iostrata.segment;

import java.nio.file.Path;

/** The point table of the tests, and recorders on it. */
final class Points {
  static final int JAVA_READ = 1;
  static final int HDFS_READ = 2;
  static final int READ_BLOCK = 3; // scope, begin
  static final int COUNTED_WRITE = 4;
  static final int UNUSED = 5;
  static final int COUNT = 6;

  private Points() {}

  static Recorder.Options options(Path dir) {
    Recorder.Options options = new Recorder.Options();
    options.dir = dir;
    options.layerOfPoint =
        new byte[] {
          0,
          Schema.LAYER_JAVA,
          Schema.LAYER_HDFS,
          Schema.LAYER_DATANODE,
          Schema.LAYER_FS,
          Schema.LAYER_HDFS
        };
    options.scopeOfPoint = new boolean[] {false, false, false, true, false, false};
    options.beginOfPoint = options.scopeOfPoint;
    options.capBytes = 64 << 20;
    return options;
  }

  /** A clock that says 1000, 1010, 1020, … */
  static Recorder.Options ticking(Path dir) {
    Recorder.Options options = options(dir);
    long[] time = {990};
    options.clock = () -> time[0] += 10;
    return options;
  }

  static void call(ThreadLog log, int point, long target, long bytes) {
    log.enter(point, target, bytes, -1);
    log.exit(bytes, 0, 0);
  }
}
