package io.iostrata.jobs.requests;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Settings of small trials, some of them changed. */
final class SettingsForTests {
  private static final List<String> WORDS =
      List.of(
          "folder=/tmp/requests",
          "seed=7",
          "base=1000",
          "alpha=1",
          "duration=1",
          "warmup=0",
          "arrivals=poisson",
          "sigma=0.5",
          "interval=1",
          "phases=0.789,9.07,34.5",
          "gaps=",
          "session=1",
          "think=0.001",
          "client=shared",
          "mix=69.25,17,9,1.2,0.3,1.3,0.75",
          "files=100",
          "zipf=0.8",
          "depth=2",
          "fanout=3",
          "file_size=1000",
          "read_size=100",
          "write_size=100",
          "spread=0",
          "threads=4",
          "spin=50",
          "limit=100000",
          "trial=1",
          "most=10000",
          "slowest=1");

  private SettingsForTests() {}

  static Settings settings(String... changed) throws IOException {
    return new Settings(words(changed));
  }

  static List<String> words(String... changed) {
    List<String> words = new ArrayList<>(WORDS);
    words.addAll(List.of(changed)); // the last of a name counts
    return words;
  }
}
