package io.iostrata.jobs.tfidf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** However a file is split, each request comes once and whole. */
class RequestReaderTest {
  // Without a body, with marks of others in it, with empty lines, and the shortest.
  private static final List<String> REQUESTS =
      Arrays.asList(
          "Start - Id: 0\nclass: Valid\nGET / HTTP/1.1\n\n\nEnd - Id: 0\n",
          "Start - Id: 1\nclass: XSS\nEnd - Id: 12\n Start - Id: 3\n End - Id: 1\nEnd - Id: 1\n",
          "Start - Id: 23\nclass: SSI\n\n\n\nEnd - Id: 23\n",
          "Start - Id: 4\nEnd - Id: 4\n");

  @TempDir java.nio.file.Path folder;

  private Path file(String text) throws IOException {
    java.nio.file.Path path = folder.resolve("requests.txt");
    Files.write(path, text.getBytes(StandardCharsets.UTF_8));
    return new Path(path.toUri());
  }

  private static List<String> split(Path file, long start, long length) throws IOException {
    Configuration configuration = new Configuration(false);
    configuration.setInt("io.file.buffer.size", 16); // some lines are longer, some shorter
    List<String> found = new ArrayList<>();
    try (RequestReader reader = new RequestReader()) {
      reader.initialize(
          new FileSplit(file, start, length, new String[0]),
          new TaskAttemptContextImpl(configuration, new TaskAttemptID()));
      while (reader.nextKeyValue()) {
        found.add(reader.getCurrentValue().toString());
      }
      assertThat(reader.getProgress()).isEqualTo(1);
    }
    return found;
  }

  private static List<String> splits(Path file, long length, long size) throws IOException {
    List<String> found = new ArrayList<>();
    for (long start = 0; start < length; start += size) {
      found.addAll(split(file, start, Math.min(size, length - start)));
    }
    return found;
  }

  @Test
  void splitsOfAnySizeHaveEachRequestOnceAndWhole() throws IOException {
    String text = String.join("\n", REQUESTS);
    Path file = file(text);
    for (int size = 1; size <= text.length(); size++) {
      assertThat(splits(file, text.length(), size)).as("splits of %d", size).isEqualTo(REQUESTS);
    }
  }

  @Test
  void aRequestIsOfTheSplitInWhichItStarts() throws IOException {
    String text = "what is no request\n\n" + String.join("", REQUESTS);
    Path file = file(text);
    for (int cut = 0; cut <= text.length(); cut++) {
      int before = 0;
      int start = text.indexOf("Start");
      while (before < REQUESTS.size() && start < cut) {
        start += REQUESTS.get(before++).length();
      }
      assertThat(split(file, 0, cut)).as("up to %d", cut).isEqualTo(REQUESTS.subList(0, before));
      assertThat(split(file, cut, text.length() - cut))
          .as("from %d", cut)
          .isEqualTo(REQUESTS.subList(before, REQUESTS.size()));
    }
  }

  @Test
  void generatedRequestsAreReadAsTheyWereWritten() throws IOException {
    RequestGenerator generator = new RequestGenerator(new Population(20, 10), 3);
    StringBuilder text = new StringBuilder();
    List<String> requests = new ArrayList<>();
    for (int index = 0; index < 20; index++) {
      String request = generator.request(index);
      text.append(request);
      requests.add(request.substring(0, request.length() - 1)); // the empty line is between
    }
    Path file = file(text.toString());
    for (int size = 97; size <= text.length(); size += 1009) {
      assertThat(splits(file, text.length(), size)).as("splits of %d", size).isEqualTo(requests);
    }
  }

  @Test
  void aFileThatEndsWithinARequestIsNamed() throws IOException {
    String whole = REQUESTS.get(0);
    Path file = file(whole + whole.substring(0, whole.length() - 3));
    assertThatThrownBy(() -> split(file, 0, 2L * whole.length()))
        .isInstanceOf(EOFException.class)
        .hasMessageEndingWith("requests.txt ends within the request at byte " + whole.length());
  }

  @Test
  void anEmptyFileHasNone() throws IOException {
    assertThat(split(file(""), 0, 0)).isEqualTo(Collections.emptyList());
  }
}
