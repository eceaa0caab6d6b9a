package io.iostrata.tfs;

import io.iostrata.segment.Recorder;

/** What calls are about, as it is named in the dictionary. */
final class Target {
  private final int category;
  private final String name;

  /** 0: it has not been written yet. */
  private volatile long handle;

  Target(int category, String name) {
    this.category = category;
    this.name = name;
  }

  long in(Recorder recorder) {
    long known = handle;
    if (known == 0) {
      known = recorder.name(category, name);
      handle = (int) known == 0 ? 0 : known; // there was no room: perhaps there is next time
    }
    return known;
  }
}
