package io.iostrata.jobs.tfidf;

import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;

/**
 * One TF-IDF vector for each class, and the class of a request: the one whose vector has the
 * greatest cosine with its own. Terms are known by their hashes, a model of 68 MB takes about 200
 * MB of memory.
 */
final class Model {
  private final double[] norms = new double[RequestClass.COUNT];
  private int terms;
  // of each term, by its number
  private long[] hashes = new long[1 << 10];
  private int[] firstWeight = new int[(1 << 10) + 1];
  // of all terms, one after the other
  private byte[] labels = new byte[1 << 10];
  private float[] weights = new float[1 << 10];
  // numbers of terms + 1 by their hashes, with linear probing; 0 is free
  private int[] table = new int[1 << 11];
  // of the request that is being classified
  private int[] found = new int[1 << 10];
  private final double[] cosines = new double[RequestClass.COUNT];

  /** Reads to the end mark of the file. */
  Model(DataInput in) throws IOException {
    TermWeights one = new TermWeights();
    while (one.read(in)) {
      add(one);
    }
    for (int label = 0; label < norms.length; label++) {
      norms[label] = Math.sqrt(norms[label]);
    }
  }

  int terms() {
    return terms;
  }

  private void add(TermWeights one) {
    if (terms == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * terms);
      firstWeight = Arrays.copyOf(firstWeight, 2 * terms + 1);
    }
    int at = firstWeight[terms];
    if (at + one.classes > weights.length) {
      weights = Arrays.copyOf(weights, 2 * weights.length);
      labels = Arrays.copyOf(labels, 2 * labels.length);
    }
    hashes[terms] = Terms.hash(one.term.getBytes(), one.term.getLength());
    for (int i = 0; i < one.classes; i++) {
      labels[at + i] = (byte) one.labels[i];
      weights[at + i] = one.weights[i];
      norms[one.labels[i]] += (double) one.weights[i] * one.weights[i];
    }
    firstWeight[++terms] = at + one.classes;
    if (3 * terms > 2 * table.length) {
      table = new int[2 * table.length];
      for (int term = 0; term < terms; term++) {
        enter(term);
      }
    } else {
      enter(terms - 1);
    }
  }

  private void enter(int term) {
    int slot = slot(hashes[term]);
    while (table[slot] != 0) {
      slot = (slot + 1) & (table.length - 1);
    }
    table[slot] = term + 1;
  }

  private int slot(long hash) {
    return (int) ((hash ^ (hash >>> 32)) & (table.length - 1));
  }

  /** The number of a term, -1 where the model has it not. */
  private int term(long hash) {
    for (int slot = slot(hash); table[slot] != 0; slot = (slot + 1) & (table.length - 1)) {
      if (hashes[table[slot] - 1] == hash) {
        return table[slot] - 1;
      }
    }
    return -1;
  }

  /** The first of those with the greatest cosine. */
  RequestClass classify(Terms of) {
    double[] all = cosines(of);
    int best = 0;
    for (int label = 1; label < all.length; label++) {
      best = all[label] > all[best] ? label : best;
    }
    return RequestClass.at(best);
  }

  /** With the vector of each class, by ordinal; until the next call. 0 where a vector is empty. */
  double[] cosines(Terms of) {
    int count = known(of);
    Arrays.sort(found, 0, count); // equal ones stand together
    Arrays.fill(cosines, 0);
    double square = 0;
    for (int i = 0; i < count; ) {
      int term = found[i];
      int begin = i;
      while (i < count && found[i] == term) {
        i++;
      }
      double weight =
          (i - begin) * (double) TermWeights.idf(firstWeight[term + 1] - firstWeight[term]);
      square += weight * weight;
      for (int at = firstWeight[term]; at < firstWeight[term + 1]; at++) {
        cosines[labels[at]] += weight * weights[at];
      }
    }
    for (int label = 0; label < cosines.length; label++) {
      double lengths = Math.sqrt(square) * norms[label];
      cosines[label] = lengths == 0 ? 0 : cosines[label] / lengths;
    }
    return cosines;
  }

  /** Puts the numbers of the request's terms into {@code found}, and returns how many they are. */
  private int known(Terms of) {
    int count = 0;
    while (of.next()) {
      int term = term(of.hash());
      if (term >= 0) {
        if (count == found.length) {
          found = Arrays.copyOf(found, 2 * count);
        }
        found[count++] = term;
      }
    }
    return count;
  }
}
