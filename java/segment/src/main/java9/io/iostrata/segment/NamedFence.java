package io.iostrata.segment;

import java.lang.invoke.VarHandle;

/**
 * The fence by its name, on Java 9 and newer: a method handle for it would make a JVM that starts
 * load and spin a good part of java.lang.invoke, 3 to 20 ms.
 */
final class NamedFence {
  private NamedFence() {}

  static void release() {
    VarHandle.releaseFence();
  }
}
