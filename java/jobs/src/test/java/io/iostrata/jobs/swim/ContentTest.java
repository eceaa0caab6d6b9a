package io.iostrata.jobs.swim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContentTest {
  private static final int SIZE = 1 << 20;

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.25, 0.5, 1})
  void compressesToItsShareOfRandomBytes(double share) {
    Deflater deflater = new Deflater();
    deflater.setInput(new Content(SIZE, share, 1).fill(SIZE), 0, SIZE);
    deflater.finish();
    int compressed = deflater.deflate(new byte[2 * SIZE]);
    assertThat((double) compressed / SIZE).isBetween(share - 0.01, share + 0.02);
  }

  @Test
  void sameSeedSameBytesAndNeverTheSameTwice() {
    Content content = new Content(5000, 1, 7);
    byte[] first = content.fill(5000).clone();
    assertThat(new Content(5000, 1, 7).fill(5000)).isEqualTo(first);
    assertThat(content.fill(5000)).isNotEqualTo(first);
    assertThat(new Content(5000, 1, 8).fill(5000)).isNotEqualTo(first);
    assertThat(Arrays.copyOf(content.fill(3), 3)).isNotEqualTo(new byte[3]);
  }
}
