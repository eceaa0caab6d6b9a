package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.net.InetSocketAddress;

/** {@code rpc(request, connectionId)}: Protocol.method, with the server as its peer. */
final class RpcTarget extends Extractor {
  private static final Getter ADDRESS = new Getter("getAddress");

  @Override
  long of(Probe probe, Object request, Object connection) throws Throwable {
    int peer = 0;
    if (connection != null) {
      Object address = ADDRESS.of(connection);
      if (address instanceof InetSocketAddress) {
        String name = name((InetSocketAddress) address);
        peer = (int) Hooks.recorder.name(Schema.CATEGORY_SOCKET, name);
      }
    }
    return Hooks.recorder.name(Schema.CATEGORY_RPC, method(request), peer, -1, -1);
  }

  /** Only the protobuf engines' requests are known to have a harmless and short toString. */
  private static String method(Object request) {
    if (request == null || !request.getClass().getName().endsWith("$RpcProtobufRequest")) {
      return "";
    }
    String full = request.toString(); // package.Protocol.method
    int protocol = full.lastIndexOf('.', full.lastIndexOf('.') - 1);
    return full.substring(protocol + 1);
  }

  /** host:port without asking a name server. */
  private static String name(InetSocketAddress address) {
    String host =
        address.isUnresolved() ? address.getHostString() : address.getAddress().getHostAddress();
    return host + ":" + address.getPort();
  }
}
