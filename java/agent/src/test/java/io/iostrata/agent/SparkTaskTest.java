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
    assertThat(SparkTask.name("local-17", name)).isEqualTo("local-17_stage_3.0_task_7.1");
    assertThat(SparkTask.isName(SparkTask.name("application_17_0001", name))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "_stage_3.0_task_7.1",
        "a_stage_3.0_task_7",
        "a_stage_3_task_7.1",
        "a b_stage_3.0_task_7.1",
        "a\tb_stage_3.0_task_7.1",
        "a_stage_3.0_task_7.1\n",
        "a_stage_30000000000.0_task_7.1",
      })
  void otherTextsAreNoName(String text) {
    assertThat(SparkTask.isName(text)).isFalse();
  }
}
