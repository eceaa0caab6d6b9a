package io.iostrata.jobs;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** {@code exists PATH}: true or false. */
public final class Exists {
  private Exists() {}

  public static void main(String[] arguments) throws IOException {
    Path path = new Path(arguments[0]);
    System.out.println(path.getFileSystem(new Configuration()).exists(path));
  }
}
