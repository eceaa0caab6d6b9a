package io.iostrata.tfs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/** Builds a stream by the builder of the file system behind, which knows its own options. */
final class TracedOutputBuilder
    extends FSDataOutputStreamBuilder<FSDataOutputStream, TracedOutputBuilder> {
  private final FSDataOutputStreamBuilder<?, ?> inner;
  private final Building building;

  /** Traces what builds the stream, and then the stream. */
  interface Building {
    FSDataOutputStream of(TracedNames.Call<FSDataOutputStream> call) throws IOException;
  }

  TracedOutputBuilder(
      FileSystem fs, Path path, FSDataOutputStreamBuilder<?, ?> inner, Building building) {
    super(fs, path);
    this.inner = inner;
    this.building = building;
  }

  @Override
  public TracedOutputBuilder getThisBuilder() {
    return this;
  }

  @Override
  public TracedOutputBuilder permission(FsPermission permission) {
    inner.permission(permission);
    return this;
  }

  @Override
  public TracedOutputBuilder bufferSize(int bytes) {
    inner.bufferSize(bytes);
    return this;
  }

  @Override
  public TracedOutputBuilder replication(short replicas) {
    inner.replication(replicas);
    return this;
  }

  @Override
  public TracedOutputBuilder blockSize(long bytes) {
    inner.blockSize(bytes);
    return this;
  }

  @Override
  public TracedOutputBuilder recursive() {
    inner.recursive();
    return this;
  }

  @Override
  public TracedOutputBuilder progress(Progressable progress) {
    inner.progress(progress);
    return this;
  }

  @Override
  public TracedOutputBuilder create() {
    inner.create();
    return this;
  }

  @Override
  public TracedOutputBuilder overwrite(boolean overwrite) {
    inner.overwrite(overwrite);
    return this;
  }

  @Override
  public TracedOutputBuilder append() {
    inner.append();
    return this;
  }

  @Override
  public TracedOutputBuilder checksumOpt(Options.ChecksumOpt checksum) {
    inner.checksumOpt(checksum);
    return this;
  }

  @Override
  public FSDataOutputStream build() throws IOException {
    Configuration options = getOptions();
    for (String key : getMandatoryKeys()) {
      inner.must(key, options.get(key));
    }
    for (String key : getOptionalKeys()) {
      inner.opt(key, options.get(key));
    }
    return building.of(path -> inner.build());
  }
}
