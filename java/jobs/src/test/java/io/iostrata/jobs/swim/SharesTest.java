package io.iostrata.jobs.swim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SharesTest {
  @Test
  void rowsAndColumnsAddUpToTheTotal() {
    Random draw = new Random(1);
    for (int round = 0; round < 1000; round++) {
      long total = draw.nextLong() >>> draw.nextInt(63) >>> 1;
      int maps = 1 + draw.nextInt(20);
      int reduces = 1 + draw.nextInt(20);
      long[] columns = new long[reduces];
      long sum = 0;
      for (int map = 0; map < maps; map++) {
        long[] row = Shares.row(total, maps, reduces, map);
        for (int reduce = 0; reduce < reduces; reduce++) {
          columns[reduce] += row[reduce];
          sum += row[reduce];
        }
      }
      assertThat(sum).as("%d by %d by %d", total, maps, reduces).isEqualTo(total);
      long[] expected =
          IntStream.range(0, reduces)
              .mapToLong(reduce -> Shares.column(total, maps, reduces, reduce))
              .toArray();
      assertThat(columns).isEqualTo(expected);
    }
  }

  @Test
  void aPartBeginsWhereTheOneBeforeEnds() {
    assertThat(LongStream.range(0, 4).map(part -> Shares.share(11, 4, part)).toArray())
        .containsExactly(3, 3, 3, 2);
    assertThat(LongStream.range(0, 4).map(part -> Shares.start(11, 4, part)).toArray())
        .containsExactly(0, 3, 6, 9);
    assertThat(Shares.start(Long.MAX_VALUE, 7, 7)).isEqualTo(Long.MAX_VALUE);
  }
}
