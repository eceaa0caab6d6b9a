package io.iostrata.agent;

import io.iostrata.segment.Cause;

/**
 * {@code received(bytes)}: what a peer wrote into the trace context of a header, a ByteString. What
 * this thread does next is done for that.
 */
final class HeaderReceiver extends Extractor {
  private static final Getter BYTES = new Getter("toByteArray");

  @Override
  long of(Probe probe, Object context, Object unused) throws Throwable {
    if (context != null && Hooks.on != 0) {
      Cause cause = Carrier.cause((byte[]) BYTES.of(context), System.nanoTime());
      probe.received = cause;
    }
    return 0;
  }
}
