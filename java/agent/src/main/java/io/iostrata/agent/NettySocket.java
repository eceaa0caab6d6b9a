package io.iostrata.agent;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * {@code netty(descriptor)}: the peer of a socket of Netty's native transport, as {@link
 * SocketTarget} names it. The socket knows its number only; its channel says who is at the other
 * end. A pipe, a Unix domain socket and what was there before the agent have no name.
 */
final class NettySocket extends Extractor {
  private static final WeakIdentities<String> PEERS = new WeakIdentities<>();

  @Override
  long of(Probe probe, Object socket, Object unused) {
    long handle = probe.sockets.get(socket);
    if (handle == NameCache.ABSENT) {
      String peer = PEERS.get(socket);
      handle = SocketTarget.named(peer == null ? "" : peer);
      if (peer != null) {
        probe.sockets.put(socket, handle);
      }
    }
    return handle;
  }

  private static long learn(Object socket, Object remote, boolean isServer) {
    InetAddress host =
        remote instanceof InetSocketAddress ? ((InetSocketAddress) remote).getAddress() : null;
    if (socket != null && host != null) {
      String port = isServer ? ":" + ((InetSocketAddress) remote).getPort() : "";
      PEERS.put(socket, host.getHostAddress() + port);
    }
    return 0;
  }

  /** {@code netty_accepted(socket, remote)}: the peer has come in. */
  static final class Accepted extends Extractor {
    @Override
    long of(Probe probe, Object socket, Object remote) {
      return learn(socket, remote, false);
    }
  }

  /** {@code netty_connected(socket, remote)}: the peer is a server. */
  static final class Connected extends Extractor {
    @Override
    long of(Probe probe, Object socket, Object remote) {
      return learn(socket, remote, true);
    }
  }
}
