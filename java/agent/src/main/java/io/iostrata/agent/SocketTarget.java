package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * {@code socket(remote, local)}: the peer of a channel, by its addresses; {@code socket(socket)}:
 * of a Socket or of the stream of one. It is the target and the peer, {@code address:port} as long
 * as the port is a server's. A client's port is new with each connection and would fill the
 * dictionary of every server: a peer that has come in is named by its address alone.
 */
final class SocketTarget extends Extractor {
  private static final int NO_PORT = -1;

  @Override
  long of(Probe probe, Object remote, Object local) {
    if (remote == null) {
      return named("");
    }
    long handle = probe.sockets.get(remote);
    if (handle == NameCache.ABSENT) {
      handle = named(name(remote, local));
      probe.sockets.put(remote, handle);
    }
    return handle;
  }

  @Override
  boolean isOfFirst(Object remote) {
    return remote != null;
  }

  static long named(String name) {
    int peer = (int) Hooks.recorder.name(Schema.CATEGORY_SOCKET, name);
    return Hooks.recorder.name(Schema.CATEGORY_SOCKET, name, peer, -1, -1);
  }

  /** Empty when nobody can tell. */
  static String name(Object remote, Object local) {
    if (remote instanceof InetSocketAddress) {
      InetSocketAddress peer = (InetSocketAddress) remote;
      boolean known = local instanceof InetSocketAddress;
      int port = known ? ((InetSocketAddress) local).getPort() : NO_PORT;
      return name(peer.getAddress(), peer.getPort(), port);
    }
    Object socket = remote instanceof Socket ? remote : SocketStreams.SOCKETS.get(remote);
    // Only the JDK's own: of another nobody knows what its methods do.
    if (socket == null || socket.getClass().getClassLoader() != null) {
      return "";
    }
    Socket known = (Socket) socket;
    return name(known.getInetAddress(), known.getPort(), known.getLocalPort());
  }

  /** Without asking a name server. */
  private static String name(InetAddress peer, int port, int localPort) {
    if (peer == null) {
      return "";
    }
    String host = peer.getHostAddress();
    return SocketAccepted.isServer(localPort) ? host : host + ":" + port;
  }
}
