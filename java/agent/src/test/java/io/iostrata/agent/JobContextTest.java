package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JobContextTest {
  @Test
  void jobOfAnAttemptOrAPath() {
    assertThat(JobContext.job("attempt_1795290927811_0002_m_000001_0"))
        .isEqualTo("job_1795290927811_0002");
    assertThat(
            JobContext.job(
                "/nm/usercache/root/appcache/application_1795290927811_0002/output/"
                    + "attempt_1795290927811_0002_m_000001_0/file.out"))
        .isEqualTo("job_1795290927811_0002");
    assertThat(JobContext.job("file:/nm/appcache/application_1795290927811_12345/filecache/10"))
        .isEqualTo("job_1795290927811_12345");
  }

  @Test
  void otherNamesHaveNone() {
    for (String text :
        new String[] {"", "/nm/usercache/root/filecache/10", "attempt_", "attempt_1", "a_1_x"}) {
      assertThat(JobContext.job(text)).as(text).isEmpty();
    }
    assertThat(JobContext.job("attempt_1_")).isEmpty();
  }
}
