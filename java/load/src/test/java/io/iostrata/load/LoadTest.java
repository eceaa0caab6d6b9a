package io.iostrata.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadTest {
  private static final String SIZE = "100000";
  private static final String REQUEST = "4096";

  @TempDir Path above;

  private String folder() {
    return above.resolve("profile").toUri().toString();
  }

  private static String answer(String... words) throws IOException, InterruptedException {
    return Main.answer(words);
  }

  @ParameterizedTest
  @CsvSource({"read,sequential,200000", "write,sequential,200000", "read,90-10,200000"})
  void clientsMoveWhatAPointSays(String operation, String access, long bytes) throws Exception {
    answer("begin", folder());
    answer("prepare", folder(), SIZE, "2", "0");

    String said = answer("measure", folder(), operation, access, SIZE, REQUEST, "2", "60", "0");

    assertThat(said).matches("\\{\"bytes\": " + bytes + ", \"nanos\": [1-9][0-9]*}");
    // what is read stays for the next sample, nothing else does
    assertThat(above.resolve("profile").toFile().list())
        .filteredOn(name -> !name.startsWith("."))
        .containsExactlyInAnyOrder("made-by-iostrata-profile", "read.0", "read.1");
    answer("end", folder());
    assertThat(above).isEmptyDirectory();
  }

  @Test
  void aSampleEndsInTime() throws Exception {
    answer("begin", folder());
    String said = answer("measure", folder(), "write", "sequential", SIZE, REQUEST, "1", "0", "0");
    assertThat(said).startsWith("{\"bytes\": 0, ");
  }

  @Test
  void copiesThatCannotBeMadeAreSaid() throws Exception {
    answer("begin", folder());
    assertThatThrownBy(
            () -> answer("measure", folder(), "write", "sequential", SIZE, REQUEST, "1", "9", "2"))
        .hasMessage("2 copies were asked for, and 1 made: say fewer copies");
  }

  @Test
  void aFolderOfSomebodyElseIsLeftAlone() throws Exception {
    Path theirs = Files.createDirectories(above.resolve("profile")).resolve("data");
    Files.createFile(theirs);
    assertThatThrownBy(() -> answer("begin", folder())).hasMessageContaining("is not ours");
    assertThat(theirs).exists();
  }

  @Test
  void spaceIsThatOfTheFolderAbove() throws Exception {
    assertThat(answer("space", folder())).matches("\\{\"free\": [1-9][0-9]*, \"copies\": 1}");
    assertThatThrownBy(() -> answer("space", folder() + "/below/it"))
        .hasMessageContaining("does not exist");
  }

  @Test
  void requestsGoWhereTheSkewSays() {
    Point point = new Point(true, "90-10", 1 << 20, 4096, 0);
    Positions positions = new Positions(point, 1);
    long[] seen = LongStream.generate(positions::next).limit(10_000).toArray();

    assertThat(LongStream.of(seen))
        .allMatch(at -> at % 4096 == 0 && at >= 0 && at + 4096 <= 1 << 20);
    assertThat(LongStream.of(seen).filter(at -> at < (1 << 20) / 10).count())
        .isBetween(8_800L, 9_200L);
  }
}
