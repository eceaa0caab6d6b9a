package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.Path;

/** The files that are created, appended to, renamed and deleted: each by one request at a time. */
final class CreatedFiles {
  /** Folders over which they are spread: HDFS allows about a million names in one. */
  private static final int FOLDERS = 16;

  private final String folder;
  private final AtomicLong names = new AtomicLong();
  private final Queue<Path> there = new ConcurrentLinkedQueue<>();

  /** Of a folder in which the first {@code stock} names exist. */
  CreatedFiles(String folder, int stock) {
    this.folder = folder;
    for (int i = 0; i < stock; i++) {
      there.add(fresh());
    }
  }

  /** A name that no file has had. */
  Path fresh() {
    long number = names.getAndIncrement();
    return new Path(folder + "/" + number % FOLDERS + "/m" + number);
  }

  /** Another name in the same folder. */
  Path renamed(Path file) {
    return new Path(file.getParent(), "m" + names.getAndIncrement());
  }

  /** The file that has been there the longest; nobody else has it then. */
  Path take() throws NoneLeftException {
    Path file = there.poll();
    if (file == null) {
      throw new NoneLeftException();
    }
    return file;
  }

  void give(Path file) {
    there.add(file);
  }

  /**
   * How many must be there before {@code requests}: what is deleted beyond what is created, with
   * four standard deviations, and what is held by the threads.
   */
  static int stock(Mix mix, double requests, int threads) {
    double deletes = mix.share(Operation.DELETE);
    if (deletes + mix.share(Operation.RENAME) + mix.share(Operation.APPEND) == 0) {
      return 0;
    }
    double more = Math.max(0, deletes - mix.share(Operation.CREATE)) * requests;
    return (int) (more + 4 * Math.sqrt(requests) + 2 * threads);
  }

  /** All were deleted, or are held by other requests. */
  static final class NoneLeftException extends IOException {}
}
