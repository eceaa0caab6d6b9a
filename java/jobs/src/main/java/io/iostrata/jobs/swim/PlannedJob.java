package io.iostrata.jobs.swim;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** A line of a plan: a job, when it is submitted, and its bytes. */
final class PlannedJob {
  final int index;
  final long at; // ms after the first submission
  final int file;
  final long input;
  final long shuffle;
  final long output;
  final int maps;
  final int reduces;
  final String name;

  private PlannedJob(String line) {
    String[] fields = line.split("\t", 9);
    index = Integer.parseInt(fields[0]);
    at = Long.parseLong(fields[1]);
    file = Integer.parseInt(fields[2]);
    input = Long.parseLong(fields[3]);
    shuffle = Long.parseLong(fields[4]);
    output = Long.parseLong(fields[5]);
    maps = Integer.parseInt(fields[6]);
    reduces = Integer.parseInt(fields[7]);
    name = fields[8];
  }

  static List<PlannedJob> read(String path) throws IOException {
    List<PlannedJob> jobs = new ArrayList<>();
    for (String line : Files.readAllLines(Paths.get(path), StandardCharsets.UTF_8)) {
      jobs.add(new PlannedJob(line));
    }
    return jobs;
  }

  Path inputBelow(Path folder) {
    return new Path(folder, String.format("in/%06d", file));
  }

  Path outputBelow(Path folder) {
    return new Path(folder, String.format("out/%06d", index));
  }
}
