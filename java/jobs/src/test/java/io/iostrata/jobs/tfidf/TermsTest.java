package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class TermsTest {
  private static List<String> terms(String text) {
    Terms terms = new Terms();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    terms.of(bytes, 0, bytes.length);
    List<String> found = new ArrayList<>();
    while (terms.next()) {
      found.add(new String(terms.bytes(), 0, terms.length(), StandardCharsets.UTF_8));
    }
    return found;
  }

  @Test
  void wordsSignsAndPercentEncodedBytesAreTerms() {
    assertThat(terms("GET /a.php?q=%3CsCript%3e HTTP/1.1"))
        .containsExactly(
            "get", "/", "a", ".", "php", "?", "q", "=", "%3c", "script", "%3e", "http", "/", "1",
            ".", "1");
    assertThat(terms("../..%2f\n'%'or'%2"))
        .containsExactly("../.", ".", "%2f", "'%'", "or", "'%", "2");
    assertThat(terms("x_1 été")).containsExactly("x_1", "été");
    assertThat(terms(" \r\n\t")).isEmpty();
    assertThat(terms("")).isEmpty();
  }

  @Test
  void longOnesAreCut() {
    String word = String.join("", Collections.nCopies(Terms.LONGEST + 3, "w"));
    assertThat(terms(word)).containsExactly(word.substring(3), "www");
    assertThat(terms("-----")).containsExactly("----", "-");
  }

  @Test
  void whatIsOutsideDoesNotCount() {
    Terms terms = new Terms();
    terms.of("ab%20cd".getBytes(StandardCharsets.UTF_8), 1, 4);
    assertThat(terms.next()).isTrue();
    assertThat(terms.length()).isEqualTo(1);
    assertThat(terms.hash()).isEqualTo(Terms.hash(new byte[] {'b'}, 1));
    assertThat(terms.next()).isTrue();
    assertThat(terms.length()).isEqualTo(1); // a percent sign, not an encoded byte
    assertThat(terms.next()).isTrue();
    assertThat(terms.next()).isFalse();
  }
}
