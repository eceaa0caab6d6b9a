package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SparkTaskTest {
  @ParameterizedTest
  @ValueSource(strings = {"task 7.1 in stage 3.0 (TID 42)", "task 7.1 in stage 3.0"})
  void theNameSaysIndexAndAttemptOfTaskAndStage(String name) {
    assertThat(SparkTask.task(name)).isEqualTo("task 7.1");
    assertThat(SparkTask.stage(name)).isEqualTo("stage 3.0");
  }
}
