package io.iostrata.jobs.requests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;

class CreatedFilesTest {
  @Test
  void aFileIsWithOneRequestAtATimeAndNamesAreNew() throws IOException {
    CreatedFiles made = new CreatedFiles("/made", 2);
    Path first = made.take();
    assertThat(first).hasToString("/made/0/m0");
    assertThat(made.take()).hasToString("/made/1/m1");
    assertThatThrownBy(made::take).isInstanceOf(CreatedFiles.NoneLeftException.class);
    assertThat(made.renamed(first)).hasToString("/made/0/m2");
    assertThat(made.fresh()).hasToString("/made/3/m3");
    made.give(first);
    assertThat(made.take()).isEqualTo(first);
  }

  @Test
  void whatIsDeletedBeyondWhatIsCreatedMustBeThere() {
    Mix deletes = new Mix(new double[] {0, 0, 0, 1, 0, 0, 3});
    assertThat(CreatedFiles.stock(deletes, 10_000, 8)).isEqualTo(5000 + 400 + 16);
    Mix renames = new Mix(new double[] {0, 0, 0, 2, 0, 1, 1});
    assertThat(CreatedFiles.stock(renames, 10_000, 8)).isEqualTo(400 + 16);
    Mix reads = new Mix(new double[] {1, 1, 1, 1, 0, 0, 0});
    assertThat(CreatedFiles.stock(reads, 10_000, 8)).isZero();
  }
}
