package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  @Test
  void theRateIsAlphaTimesTheBase() throws IOException {
    assertThat(SettingsForTests.settings("base=2000", "alpha=0.01").rate).isEqualTo(20);
  }

  @Test
  void theBaseOfRecordedGapsIsTheirRateTimesTheRequestsOfASession(@TempDir Path folder)
      throws IOException {
    Path gaps = Files.writeString(folder.resolve("gaps.txt"), "0.5\n0.25\n0.25\n");
    Settings settings =
        SettingsForTests.settings(
            "arrivals=recorded", "gaps=" + gaps, "alpha=2", "session=4", "base=9");
    assertThat(settings.rate).isEqualTo(24);
  }

  @Test
  void whatIsMissingUnknownOrNoNumberIsNamed() {
    assertThatThrownBy(() -> new Settings(List.of("folder=/a"))).hasMessage("seed=… is missing");
    assertThatThrownBy(() -> SettingsForTests.settings("colour=red"))
        .hasMessage("no setting colour");
    assertThatThrownBy(() -> SettingsForTests.settings("files=many"))
        .hasMessage("files=many is no number");
    assertThatThrownBy(() -> SettingsForTests.settings("phases=1,2"))
        .hasMessage("phases has not 3 numbers");
    assertThatThrownBy(() -> new Settings(List.of("=3"))).hasMessage("=3: no name=value");
  }
}
