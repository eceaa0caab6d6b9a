package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code method(name, protocol)}: a remote method as its server names it. */
final class ProtocolTarget extends Extractor {
  @Override
  long of(Probe probe, Object name, Object protocol) {
    if (name == null) {
      return 0;
    }
    String full = protocol == null ? "" : (String) protocol;
    String type = full.substring(full.lastIndexOf('.') + 1);
    return Hooks.recorder.name(Schema.CATEGORY_RPC, type + '.' + name);
  }
}
