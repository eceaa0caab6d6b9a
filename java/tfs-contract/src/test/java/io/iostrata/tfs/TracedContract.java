package io.iostrata.tfs;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** What a file system behind {@code tfs://} promises: what it promises by itself. */
final class TracedContract extends AbstractFSContract {
  private final URI uri;
  private final Path folder;

  /**
   * @param options a resource: those that Hadoop's own tests of the file system have
   * @param uri of {@code tfs://}
   * @param folder for the files of tests
   */
  TracedContract(Configuration conf, String options, URI uri, Path folder) {
    super(conf);
    this.uri = uri;
    this.folder = folder;
    addConfResource(options);
  }

  @Override
  public FileSystem getTestFileSystem() throws IOException {
    return FileSystem.get(uri, getConf());
  }

  @Override
  public String getScheme() {
    return uri.getScheme();
  }

  @Override
  public Path getTestPath() {
    return folder;
  }
}
