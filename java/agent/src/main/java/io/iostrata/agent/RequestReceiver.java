package io.iostrata.agent;

import io.iostrata.segment.Cause;

/**
 * {@code requested(request)}, as a context: what a thread does for an HTTP request of Netty 4,
 * caused by what its header says. {@code requested_event(event)}: of Netty 3, which Hadoop 3.3 has.
 * Where the reduce that asks is not traced, it is for the job in the URL.
 */
final class RequestReceiver extends Extractor {
  private static final Getter HEADERS = new Getter("headers");
  private static final Getter HEADER = new Getter("get", String.class);

  private final Getter uri;

  /** Null when the request is not within another object. */
  private final Getter message;

  RequestReceiver(Getter uri, Getter message) {
    this.uri = uri;
    this.message = message;
  }

  @Override
  long of(Probe probe, Object received, Object unused) throws Throwable {
    Object request = message == null ? received : message.of(received);
    String url = (String) uri.of(request);
    String header = (String) HEADER.of(HEADERS.of(request), RequestSender.HEADER);
    Cause cause = Carrier.cause(header, JobContext.job(url));
    probe.pendingCause = cause;
    return cause == null ? JobContext.context(url) : cause.context;
  }
}
