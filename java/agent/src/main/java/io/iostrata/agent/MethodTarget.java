package io.iostrata.agent;

import io.iostrata.segment.Schema;

/**
 * {@code method_of(descriptor)}: a remote method as its descriptor in Protocol Buffers names it.
 */
final class MethodTarget extends Extractor {
  private static final Getter NAME = new Getter("getName");
  private static final Getter SERVICE = new Getter("getService");

  @Override
  long of(Probe probe, Object descriptor, Object unused) throws Throwable {
    long handle = probe.methods.get(descriptor);
    if (handle == NameCache.ABSENT) {
      String service = (String) NAME.of(SERVICE.of(descriptor));
      handle = Hooks.recorder.name(Schema.CATEGORY_RPC, service + '.' + NAME.of(descriptor));
      probe.methods.put(descriptor, handle);
    }
    return handle;
  }
}
