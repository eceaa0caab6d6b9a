package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.io.Text;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

class ModelTest {
  private static final int XSS = RequestClass.XSS.ordinal();
  private static final int SQL = RequestClass.SQL_INJECTION.ordinal();

  private static long[] counts(int... labels) {
    long[] counts = new long[RequestClass.COUNT];
    for (int label : labels) {
      counts[label]++;
    }
    return counts;
  }

  private static byte[] file(Map<String, long[]> counts) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    DataOutputStream data = new DataOutputStream(out);
    TermWeights weights = new TermWeights();
    for (Map.Entry<String, long[]> one : counts.entrySet()) {
      weights.weigh(new Text(one.getKey()), one.getValue());
      weights.write(data);
    }
    TermWeights.writeEnd(data);
    return out.toByteArray();
  }

  private static Model model(Map<String, long[]> counts) throws IOException {
    return new Model(new DataInputStream(new ByteArrayInputStream(file(counts))));
  }

  private static Terms terms(String text) {
    Terms terms = new Terms();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    terms.of(bytes, 0, bytes.length);
    return terms;
  }

  /** Two requests of XSS, "script script a", and one of SQL, "select a". */
  private static Model small() throws IOException {
    Map<String, long[]> counts = new LinkedHashMap<>();
    counts.put("script", counts(XSS, XSS));
    counts.put("select", counts(SQL));
    counts.put("a", counts(XSS, SQL));
    return model(counts);
  }

  @Test
  void cosinesAreThoseByHand() throws IOException {
    // In units of ln 2: a term of one class of eight weighs 3, of two 2. XSS is (6, 0, 2), SQL is
    // (0, 3, 2), the request (3, 0, 4) of length 5.
    double[] cosines = small().cosines(terms("a SCRIPT unknown a"));
    assertThat(cosines[XSS]).isCloseTo(26 / (5 * Math.sqrt(40)), within(1e-6));
    assertThat(cosines[SQL]).isCloseTo(8 / (5 * Math.sqrt(13)), within(1e-6));
    assertThat(cosines[RequestClass.SSI.ordinal()]).isZero();
  }

  @Test
  void theGreatestCosineIsTheClass() throws IOException {
    Model model = small();
    assertThat(model.classify(terms("a script a"))).isEqualTo(RequestClass.XSS);
    assertThat(model.classify(terms("select"))).isEqualTo(RequestClass.SQL_INJECTION);
    // nothing is known: the first class
    assertThat(model.classify(terms("nothing"))).isEqualTo(RequestClass.VALID);
    assertThat(model.classify(terms(""))).isEqualTo(RequestClass.VALID);
  }

  @Test
  void manyTermsAreFoundAgain() throws IOException {
    Map<String, long[]> counts = new LinkedHashMap<>();
    for (int i = 0; i < 20_000; i++) {
      counts.put("t" + i, counts(i % RequestClass.COUNT, (i + 3) % RequestClass.COUNT));
    }
    Model model = model(counts);
    assertThat(model.terms()).isEqualTo(20_000);
    double each = 1 / Math.sqrt(5000); // a class has 5000 terms of the same weight
    for (int i = 0; i < 20_000; i++) {
      double[] expected = new double[RequestClass.COUNT];
      expected[i % RequestClass.COUNT] = each;
      expected[(i + 3) % RequestClass.COUNT] = each;
      Assertions.assertThat(model.cosines(terms("t" + i))).containsExactly(expected, within(1e-6));
    }
  }

  @Test
  void aTermOfAllClassesWeighsNothing() {
    TermWeights weights = new TermWeights();
    long[] all = new long[RequestClass.COUNT];
    Arrays.fill(all, 5);
    weights.weigh(new Text("get"), all);
    assertThat(weights.idf()).isZero();
  }

  @Test
  void aFileThatIsCutOffIsNoModel() throws IOException {
    Map<String, long[]> counts = new LinkedHashMap<>();
    counts.put("a", counts(XSS));
    byte[] whole = file(counts);
    for (int length = 0; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      Assertions.assertThatThrownBy(
              () -> new Model(new DataInputStream(new ByteArrayInputStream(part))))
          .isInstanceOf(EOFException.class);
    }
  }
}
