package io.iostrata.agent;

import io.iostrata.segment.Schema;

/** {@code holds(name)}: this process holds the DFS client of that name. */
final class ClientHeld extends Extractor {
  @Override
  long of(Probe probe, Object name, Object unused) {
    return name == null ? 0 : Hooks.recorder.name(Schema.CATEGORY_CLIENT, (String) name);
  }
}
