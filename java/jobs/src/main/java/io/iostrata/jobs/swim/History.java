package io.iostrata.jobs.swim;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.mapred.JobConf;

/**
 * {@code swim-history [FOLDER …]}: prints a line for each job whose history lies there or below,
 * see {@link PastJob#line}; without a folder, for each of the cluster's own.
 */
public final class History {
  /** Of {@code JobHistoryUtils.getConfiguredHistoryServerDoneDirPrefix} and its neighbor. */
  private static final String STAGING = "yarn.app.mapreduce.am.staging-dir";

  private static final String[][] OWN = {
    {"mapreduce.jobhistory.done-dir", "/history/done"},
    {"mapreduce.jobhistory.intermediate-done-dir", "/history/done_intermediate"},
  };
  private static final String ENDING = ".jhist";

  private final Configuration configuration;

  /** A history is in both folders while the history server moves it. */
  private final Set<String> seen = new HashSet<>();

  private History(Configuration configuration) {
    this.configuration = configuration;
  }

  public static void main(String[] arguments) throws IOException {
    Configuration configuration = new JobConf();
    History history = new History(configuration);
    for (String folder : arguments) {
      try {
        history.print(new Path(folder));
      } catch (FileNotFoundException none) {
        System.err.println(folder + " is not there");
        System.exit(1);
      }
    }
    for (Path folder : arguments.length > 0 ? Collections.<Path>emptyList() : own(configuration)) {
      try {
        history.print(folder);
      } catch (FileNotFoundException none) {
        System.err.println("no history in " + folder); // nobody said that it would be there
      }
    }
  }

  private static List<Path> own(Configuration configuration) {
    String staging = configuration.get(STAGING, "/tmp/hadoop-yarn/staging");
    Path[] folders = new Path[OWN.length];
    for (int i = 0; i < OWN.length; i++) {
      folders[i] = new Path(configuration.get(OWN[i][0], staging + OWN[i][1]));
    }
    return Arrays.asList(folders);
  }

  private void print(Path folder) throws IOException {
    FileSystem files = folder.getFileSystem(configuration);
    RemoteIterator<LocatedFileStatus> found = files.listFiles(folder, true);
    while (found.hasNext()) {
      Path path = found.next().getPath();
      String name = path.getName();
      if (name.endsWith(ENDING) && seen.add(PastJob.nameOf(name))) {
        System.out.println(new PastJob(files, path).line());
      }
    }
  }
}
