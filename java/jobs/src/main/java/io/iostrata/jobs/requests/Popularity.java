package io.iostrata.jobs.requests;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Zipf: the k-th most popular of the files is asked for in proportion to 1 / k^exponent. */
final class Popularity {
  private final double[] upTo;
  private final int[] files;

  /** Which file is how popular is drawn, so that popular ones are in all folders. */
  Popularity(int count, double exponent, SplittableRandom random) {
    upTo = new double[count];
    files = new int[count];
    double sum = 0;
    for (int rank = 0; rank < count; rank++) {
      sum += Math.pow(rank + 1, -exponent);
      upTo[rank] = sum;
      int other = random.nextInt(rank + 1);
      files[rank] = files[other];
      files[other] = rank;
    }
  }

  /** The number of a file, from 0. */
  int file(SplittableRandom random) {
    double drawn = random.nextDouble() * upTo[upTo.length - 1];
    int found = Arrays.binarySearch(upTo, drawn);
    return files[found < 0 ? -found - 1 : found];
  }

  /** The most popular file but {@code rank}. */
  int ranked(int rank) {
    return files[rank];
  }
}
