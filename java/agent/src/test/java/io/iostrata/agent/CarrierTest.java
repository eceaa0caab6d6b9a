package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.iostrata.segment.Cause;
import org.junit.jupiter.api.Test;

class CarrierTest {
  private static final Cause CAUSE = new Cause(0, 1, -2, Long.MAX_VALUE, 0, -250_000_000);

  @Test
  void textIsTheBytesInHexadecimal() {
    assertThat(Carrier.text(CAUSE))
        .isEqualTo(
            "494f5354" + "0000000000000001" + "fffffffffffffffe" + "7fffffffffffffff" + "f1194d80");
  }

  /** Anybody may send a header of that name. */
  @Test
  void otherTextsAreNoCause() {
    String ours = Carrier.text(CAUSE);
    String zeros = ours.replaceAll(".", "0");
    for (String text :
        new String[] {null, "", "x", ours + "0", "x" + ours.substring(1), "-" + zeros, zeros}) {
      assertThat(Carrier.cause(text, "job_1_1")).as(text).isNull();
    }
    assertThat(Carrier.cause("-" + zeros.substring(1), "")).isNull();
    String tooMany = ours.replace("f1194d80", "3b9aca01");
    assertThat(Carrier.cause(tooMany, "")).as("of a billion requests, a billion and one").isNull();
  }
}
