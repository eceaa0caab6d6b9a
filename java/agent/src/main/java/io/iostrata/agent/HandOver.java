package io.iostrata.agent;

import io.iostrata.segment.Cause;

/**
 * {@code hands(object)}, as an effect: whoever works on that object later does it for the call that
 * is open now, or for what was just received. {@code handed(object)}, as a context: this is the
 * work. {@code handed(object, name)}: where nobody handed it over it is done for the job that the
 * name names.
 */
final class HandOver {
  static final WeakIdentities<Cause> CAUSES = new WeakIdentities<>();

  private HandOver() {}

  static final class Gives extends Extractor {
    @Override
    long of(Probe probe, Object object, Object unused) {
      Cause cause = Hooks.on == 0 ? null : probe.handsOver();
      if (cause != null) {
        CAUSES.put(object, cause);
      }
      return 0;
    }
  }

  static final class Takes extends Extractor {
    @Override
    long of(Probe probe, Object object, Object name) {
      Cause cause = CAUSES.get(object);
      probe.pendingCause = cause;
      return cause == null ? JobContext.context(name) : cause.context;
    }
  }
}
