package io.iostrata.jobs.requests;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Requests to HDFS. All threads share one client of it, as in a server that serves many users, or
 * each session makes one, as processes do.
 */
final class Client implements Work {
  private static final int BUFFER = 1 << 20;
  private final Settings settings;
  private final FileSystem files;
  private final NameSpace space;
  private final Popularity popularity;
  private final Sizes reads;
  private final Sizes writes;
  private final ThreadLocal<byte[]> buffers;
  private CreatedFiles made;

  Client(Settings settings, FileSystem files) {
    this.settings = settings;
    this.files = files;
    space = new NameSpace(settings);
    popularity = new Popularity(settings.files, settings.zipf, Distributions.of(settings.seed, -1));
    reads = new Sizes(settings.readSize, settings.spread);
    writes = new Sizes(settings.writeSize, settings.spread);
    buffers = ThreadLocal.withInitial(() -> new byte[BUFFER]);
    made = new CreatedFiles(folder(), 0);
  }

  /** The same with a client of HDFS of its own. */
  private Client(Client other, FileSystem files) {
    settings = other.settings;
    this.files = files;
    space = other.space;
    popularity = other.popularity;
    reads = other.reads;
    writes = other.writes;
    buffers = other.buffers;
    made = other.made;
  }

  @Override
  public Work session() throws IOException {
    if (settings.shared) {
      return this;
    }
    return new Client(this, FileSystem.newInstance(files.getUri(), files.getConf()));
  }

  /** Of a session: what all share stays open. */
  @Override
  public void close() throws IOException {
    if (!settings.shared) {
      files.close();
    }
  }

  private String folder() {
    return settings.folder + "/made";
  }

  /** Makes the files that are read. */
  void prepare() throws IOException, InterruptedException {
    Parallel.each(
        settings.files,
        settings.threads,
        number -> write(files.create(space.file(number), false), space.size(number)));
  }

  /** Makes {@code stock} empty files that may be changed, in place of those of before. */
  void restock(int stock) throws IOException, InterruptedException {
    files.delete(new Path(folder()), true);
    CreatedFiles empty = new CreatedFiles(folder(), 0);
    Parallel.each(stock, settings.threads, number -> write(files.create(empty.fresh(), false), 0));
    stocked(stock);
  }

  /** Takes those over that {@link #restock} has made in another JVM. */
  void stocked(int stock) {
    made = new CreatedFiles(folder(), stock);
  }

  @Override
  public long perform(Operation operation, SplittableRandom random) throws IOException {
    switch (operation) {
      case READ:
        return read(random);
      case STAT:
        files.getFileStatus(space.file(popularity.file(random)));
        return 0;
      case LIST:
        files.listStatus(space.file(popularity.file(random)).getParent());
        return 0;
      case CREATE:
        return create(random);
      case APPEND:
        return append(random);
      case RENAME:
        return rename();
      case DELETE:
        return delete();
      default:
        throw new AssertionError(operation);
    }
  }

  private long read(SplittableRandom random) throws IOException {
    int file = popularity.file(random);
    int size = space.size(file);
    int wanted = Math.min(reads.draw(random), size);
    long offset = (long) (random.nextDouble() * (size - wanted + 1L));
    byte[] buffer = buffers.get();
    try (FSDataInputStream in = files.open(space.file(file))) {
      for (int done = 0; done < wanted; done += BUFFER) {
        in.readFully(offset + done, buffer, 0, Math.min(BUFFER, wanted - done));
      }
    }
    return wanted;
  }

  private long create(SplittableRandom random) throws IOException {
    Path file = made.fresh();
    long size = write(files.create(file, false), writes.draw(random));
    made.give(file);
    return size;
  }

  private long append(SplittableRandom random) throws IOException {
    Path file = made.take();
    try {
      return write(files.append(file), writes.draw(random));
    } finally {
      made.give(file);
    }
  }

  private long rename() throws IOException {
    Path file = made.take();
    Path other = made.renamed(file);
    Path left = file;
    try {
      if (!files.rename(file, other)) {
        throw new FileNotFoundException(file.toString());
      }
      left = other;
    } finally {
      made.give(left);
    }
    return 0;
  }

  private long delete() throws IOException {
    Path file = made.take();
    if (!files.delete(file, false)) {
      throw new FileNotFoundException(file.toString());
    }
    return 0;
  }

  private long write(FSDataOutputStream stream, int size) throws IOException {
    byte[] buffer = buffers.get();
    try (FSDataOutputStream out = stream) {
      for (int done = 0; done < size; done += BUFFER) {
        out.write(buffer, 0, Math.min(BUFFER, size - done));
      }
    }
    return size;
  }
}
