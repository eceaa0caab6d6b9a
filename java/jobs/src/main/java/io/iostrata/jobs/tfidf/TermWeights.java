package io.iostrata.jobs.tfidf;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.hadoop.io.Text;

/**
 * A term of the model, and its weight in the vector of each class that has it. All requests of a
 * class are one document, so that there are as many documents as classes. A file of terms ends with
 * an empty one.
 */
final class TermWeights {
  private static final float[] IDF = new float[RequestClass.COUNT + 1];

  static {
    for (int classes = 1; classes < IDF.length; classes++) {
      IDF[classes] = (float) Math.log((double) RequestClass.COUNT / classes);
    }
  }

  final Text term = new Text();
  final int[] labels = new int[RequestClass.COUNT]; // ordinals of classes
  final float[] weights = new float[RequestClass.COUNT];
  int classes; // how many of the two arrays count

  float idf() {
    return idf(classes);
  }

  /** Inverse document frequency of a term in so many classes: ln(all classes / these). */
  static float idf(int classes) {
    return IDF[classes];
  }

  /** Weight in a class: how often its requests have the term, times {@link #idf}. */
  void weigh(Text of, long[] counts) {
    term.set(of);
    classes = 0;
    for (int label = 0; label < counts.length; label++) {
      if (counts[label] > 0) {
        labels[classes] = label;
        weights[classes++] = counts[label];
      }
    }
    for (int i = 0; i < classes; i++) {
      weights[i] *= idf();
    }
  }

  void write(DataOutput out) throws IOException {
    term.write(out);
    out.writeByte(classes);
    for (int i = 0; i < classes; i++) {
      out.writeByte(labels[i]);
      out.writeFloat(weights[i]);
    }
  }

  static void writeEnd(DataOutput out) throws IOException {
    new Text().write(out);
  }

  /** The next of a file; false at its end. */
  boolean read(DataInput in) throws IOException {
    term.readFields(in);
    if (term.getLength() == 0) {
      return false;
    }
    classes = in.readByte();
    for (int i = 0; i < classes; i++) {
      labels[i] = in.readByte();
      weights[i] = in.readFloat();
    }
    return true;
  }
}
