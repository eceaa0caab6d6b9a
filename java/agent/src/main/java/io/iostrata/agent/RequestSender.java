package io.iostrata.agent;

import java.net.URLConnection;

/**
 * {@code requests(connection)}, as an effect: an HTTP request that this thread is about to send. It
 * gets one more header, which no server looks at but a traced one. The shuffle's own check covers
 * the URL only (SecureShuffleUtils#buildMsgFrom).
 */
final class RequestSender extends Extractor {
  static final String HEADER = "iostrata-cause";

  @Override
  long of(Probe probe, Object connection, Object unused) {
    if (connection == null || Hooks.on == 0) {
      return 0;
    }
    try {
      ((URLConnection) connection).addRequestProperty(HEADER, Carrier.text(probe.cause()));
    } catch (IllegalStateException e) {
      // Connected already: the request is on its way as it is.
    }
    return 0;
  }
}
