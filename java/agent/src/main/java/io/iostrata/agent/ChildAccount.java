package io.iostrata.agent;

/**
 * {@code child(task)}: a child process, for which a thread of the JDK is about to wait. We wait for
 * it first, as long as that thread would, and leave it to be waited for: in between the kernel says
 * what it has done.
 */
final class ChildAccount extends Extractor {
  @Override
  long of(Probe probe, Object task, Object none) {
    if (Hooks.on != 0) {
      Hooks.recorder.child(task);
    }
    return 0;
  }
}
