package io.iostrata.posixfs;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;

/** {@code posix://} for those who call FileContext, such as YARN. */
public final class MountedFs extends DelegateToFileSystem {
  MountedFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(uri, new MountedFileSystem(), conf, MountedFileSystem.SCHEME, false);
  }

  @Override
  public int getUriDefaultPort() {
    return -1;
  }
}
