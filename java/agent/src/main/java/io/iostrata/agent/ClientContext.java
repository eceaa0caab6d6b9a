package io.iostrata.agent;

import io.iostrata.segment.Cause;

/** {@code client(name)}: what follows is done for this DFS client, caused by what it sent. */
final class ClientContext extends Extractor {
  @Override
  long of(Probe probe, Object name, Object unused) {
    Cause received = probe.takeReceived();
    probe.pendingCause = received;
    // A DataNode that copies a block to another gives an empty name.
    if (name == null || ((String) name).isEmpty()) {
      return received == null ? 0 : received.context;
    }
    String client = (String) name;
    String task = received == null ? null : TaskNames.of(received.context);
    if (task != null) {
      return TaskNames.context(task, client);
    }
    long context = probe.clients.get(client);
    if (context == NameCache.ABSENT) {
      context = Hooks.recorder.context("", "", "", "", client);
      probe.clients.put(client, context);
    }
    return context;
  }
}
