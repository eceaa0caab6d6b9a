package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RequestGeneratorTest {
  private static final Population POPULATION = new Population(5000, 1507);
  private static final RequestGenerator GENERATOR = new RequestGenerator(POPULATION, 7);

  @Test
  void requestsHaveTheFormAndTheClassThatIsPlanned() {
    for (long index = 0; index < 2000; index++) {
      String[] lines = GENERATOR.request(index).split("\n", -1);
      assertThat(lines[0]).isEqualTo("Start - Id: " + index);
      assertThat(lines[1]).isEqualTo("class: " + POPULATION.classOf(index).label);
      assertThat(lines[2]).matches("(GET|POST) /\\S+ HTTP/1\\.[01]");
      int empty = Arrays.asList(lines).indexOf("");
      assertThat(empty - 3)
          .isBetween(RequestGenerator.LEAST_HEADERS, RequestGenerator.MOST_HEADERS);
      assertThat(Arrays.asList(lines).subList(3, empty)).allMatch(line -> line.contains(": "));
      int end = Arrays.asList(lines).indexOf("End - Id: " + index);
      assertThat(lines).hasSize(end + 3); // the end, and an empty line
      if (lines[2].startsWith("POST")) {
        assertThat(end).isEqualTo(empty + 2);
        assertThat(lines[empty - 1]).isEqualTo("Content-Length: " + lines[empty + 1].length());
      } else {
        assertThat(end).isEqualTo(empty + 1);
      }
    }
  }

  @Test
  void theirMeanSizeIsThePublishedOne() {
    int count = 5000;
    double sum = 0;
    double squares = 0;
    for (long index = 0; index < count; index++) {
      double size = GENERATOR.request(index).getBytes(StandardCharsets.UTF_8).length;
      assertThat(size).isLessThan(3072); // what is counted on where space is asked for
      sum += size;
      squares += size * size;
    }
    double mean = sum / count;
    double deviation = Math.sqrt(squares / count - mean * mean);
    assertThat(mean)
        .isCloseTo(RequestGenerator.MEAN_SIZE, within(5 * deviation / Math.sqrt(count)));
  }

  @Test
  void theSameSeedMakesTheSameRequestsInAnyNumberOfThreads() throws Exception {
    byte[] one = file(7, 1);
    assertThat(file(7, 3)).isEqualTo(one);
    assertThat(new RequestGenerator(POPULATION, 8).request(0)).isNotEqualTo(GENERATOR.request(0));
    StringBuilder alone = new StringBuilder();
    for (long index = 0; index < 1234; index++) {
      alone.append(GENERATOR.request(index));
    }
    assertThat(new String(one, StandardCharsets.UTF_8)).isEqualTo(alone.toString());
  }

  private static byte[] file(long seed, int threads) throws IOException, InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RequestFile.write(new RequestGenerator(POPULATION, seed), 1234, threads, out);
    return out.toByteArray();
  }

  @Test
  void noTwoAreAlike() {
    Set<String> bodies = new HashSet<>();
    for (long index = 0; index < 2000; index++) {
      String request = GENERATOR.request(index);
      bodies.add(request.substring(request.indexOf("/"), request.indexOf("End - Id")));
    }
    assertThat(bodies).hasSize(2000);
  }

  @Test
  void someValidOnesHaveWordsOfAttacksAndSomeAttacksHideThem() {
    long suspect = 0;
    long hidden = 0;
    for (long index = 0; index < 5000; index++) {
      RequestClass of = POPULATION.classOf(index);
      boolean script = GENERATOR.request(index).contains("script");
      suspect += of == RequestClass.VALID && script ? 1 : 0;
      hidden += of == RequestClass.XSS && !script ? 1 : 0;
    }
    assertThat(suspect).isPositive();
    assertThat(hidden).isPositive();
  }
}
