package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A file of points that no command line has checked. */
class UserPointsTest {
  private static final String[] FIELDS =
      PointText.table().substring(0, PointText.table().indexOf('\n')).split("\t");

  /** A point of a user that may be, but for one field. */
  private static Point but(String field, String value) {
    String[] row = new String[FIELDS.length];
    Arrays.fill(row, "");
    set(row, "id", "400");
    set(row, "layer", "fs");
    set(row, "op", "write");
    set(row, "class", "org.acme.Store");
    set(row, "method", "put");
    set(row, "desc", "(Ljava/lang/String;[B)V");
    set(row, "mode", "call");
    set(row, "scope", "0");
    set(row, "begin", "0");
    set(row, "bytes", "arg2");
    set(row, "target", "file(arg1)");
    set(row, field, value);
    return new Point(row);
  }

  private static void set(String[] row, String field, String value) {
    row[Arrays.asList(FIELDS).indexOf(field)] = value;
  }

  @Test
  void whatOnlyCountsMayBe() {
    assertThatCode(() -> UserPoints.refuse(but("mode", "counted"))).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({
    "mode, own, org/acme/Store#put would change who calls belong to",
    "mode, effect, org/acme/Store#put would change who calls belong to",
    "mode, replace, org/acme/Store#put would change who calls belong to",
    "context, handed(this), org/acme/Store#put would change who calls belong to",
    "effect, hands(this), org/acme/Store#put would change who calls belong to",
    "method, <init>, org/acme/Store#<init> cannot be a point of a user",
    "bytes, of(read), org/acme/Store#put cannot be a point of a user",
    "through, this.out, org/acme/Store#put cannot be a point of a user",
    "class, java.util.HashMap, java/util/HashMap#put is called by the agent itself",
    "class, io.iostrata.agent.Hooks, io/iostrata/agent/Hooks#put is the agent itself",
  })
  void whatWouldChangeMoreIsRefused(String field, String value, String message) {
    assertThatThrownBy(() -> UserPoints.refuse(but(field, value))).hasMessage(message);
  }
}
