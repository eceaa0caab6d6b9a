package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.mapreduce.Counters;
import org.junit.jupiter.api.Test;

class ResultsTest {
  private static final Population ASKED = new Population(4, 2); // Valid, XSS, Valid, SqlInjection

  private static Results of(String... lines) throws IOException {
    Results results = new Results();
    for (String line : lines) {
      results.add(line.replace(' ', '\t'));
    }
    return results;
  }

  private static Results right() throws IOException {
    return of("2 Valid XSS", "0 Valid Valid", "1 XSS XSS", "3 SqlInjection SqlInjection");
  }

  @Test
  @SuppressWarnings("unchecked")
  void eachRequestIsInARowOfItsClass() throws IOException {
    Results results = right();
    results.assertAllOf(ASKED);
    List<List<Long>> rows = (List<List<Long>>) results.asMap().get("confusion");
    assertThat(rows.get(0)).containsExactly(1L, 1L, 0L, 0L, 0L, 0L, 0L, 0L);
    assertThat(rows.get(1)).containsExactly(0L, 1L, 0L, 0L, 0L, 0L, 0L, 0L);
    assertThat(rows.get(2)).containsExactly(0L, 0L, 1L, 0L, 0L, 0L, 0L, 0L);
  }

  @Test
  void whatIsMissingTwiceOrOfAnotherClassIsSaid() {
    assertThatThrownBy(() -> of("0 Valid Valid").assertAllOf(ASKED))
        .hasMessage("1 of 4 were classified");
    assertThatThrownBy(() -> of("0 Valid Valid", "0 Valid XSS"))
        .hasMessage("request 0 was classified twice");
    assertThatThrownBy(
            () -> of("0 Valid Valid", "1 SSI SSI", "2 Valid SSI", "3 XSS XSS").assertAllOf(ASKED))
        .hasMessage("SqlInjection: 0 requests, 1 expected");
  }

  @Test
  void countersOfTheMapsAreHeldAgainstWhatTheyWrote() throws IOException {
    Counters counters = new Counters();
    for (int label = 0; label < 3; label++) {
      counters.findCounter(Classification.COUNTERS, Classification.right(label)).setValue(1);
    }
    Results results = right();
    assertThatThrownBy(() -> results.assertCounted(counters))
        .hasMessage("Valid: 1 wrong, 0 expected");
    counters.findCounter(Classification.COUNTERS, Classification.wrong(0)).setValue(1);
    results.assertCounted(counters);
  }
}
