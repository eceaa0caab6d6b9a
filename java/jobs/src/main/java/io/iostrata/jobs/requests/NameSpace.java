package io.iostrata.jobs.requests;

import org.apache.hadoop.fs.Path;

/** The files that are read and looked up: numbered, over the lowest folders of a full tree. */
final class NameSpace {
  private final Settings settings;
  private final Sizes sizes;

  NameSpace(Settings settings) {
    this.settings = settings;
    sizes = new Sizes(settings.fileSize, settings.spread);
  }

  /** {@code FOLDER/in/d1/d0/f5} for a depth of 2 and a fan-out of 2. */
  Path file(int number) {
    StringBuilder path = new StringBuilder(settings.folder).append("/in");
    int digits = number;
    for (int level = 0; level < settings.depth; level++) {
      path.append("/d").append(digits % settings.fanout);
      digits /= settings.fanout;
    }
    return new Path(path.append("/f").append(number).toString());
  }

  /** Bytes of that file; the same at each call. */
  int size(int number) {
    return sizes.draw(Distributions.of(settings.seed, number));
  }
}
