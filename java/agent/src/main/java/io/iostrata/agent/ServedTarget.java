package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * {@code served(what)}: map output at the node that serves it, by the id of the map attempt. A
 * ReduceContext knows only later which one is next: then by the id of the job.
 */
final class ServedTarget extends Extractor {
  private static final Getter JOB = new Getter("getJobId");

  @Override
  long of(Probe probe, Object what, Object unused) throws Throwable {
    if (what == null) {
      return 0;
    }
    String name = what instanceof String ? (String) what : (String) JOB.of(what);
    return Hooks.recorder.name(Schema.CATEGORY_SHUFFLE, name);
  }
}
