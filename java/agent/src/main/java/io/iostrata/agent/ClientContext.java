package io.iostrata.agent;

/** {@code client(name)}: what follows is done for this DFS client. */
final class ClientContext extends Extractor {
  @Override
  long of(Probe probe, Object name, Object unused) {
    // A DataNode that copies a block to another gives an empty name: nobody's call but its own.
    if (name == null || ((String) name).isEmpty()) {
      return 0;
    }
    String client = (String) name;
    long context = probe.clients.get(client);
    if (context == NameCache.ABSENT) {
      context = Hooks.recorder.context("", "", "", "", client);
      probe.clients.put(client, context);
    }
    return context;
  }
}
