package io.iostrata.agent;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;

/** {@code accepted(connection)}: the local port of a connection that came in is a server's. */
final class SocketAccepted extends Extractor {
  private static final int PORTS = 1 << 16;

  /** By port; written and read without a lock: a port that is missed is one that has a name. */
  private static final boolean[] SERVERS = new boolean[PORTS];

  @Override
  long of(Probe probe, Object connection, Object unused) throws Throwable {
    // Null when nobody has come; other classes than the JDK's own are not asked anything.
    if (connection == null || connection.getClass().getClassLoader() != null) {
      return 0;
    }
    if (connection instanceof SocketChannel) {
      SocketAddress local = ((SocketChannel) connection).getLocalAddress();
      if (local instanceof InetSocketAddress) {
        server(((InetSocketAddress) local).getPort());
      }
    } else if (connection instanceof Socket) {
      server(((Socket) connection).getLocalPort());
    }
    return 0;
  }

  private static void server(int port) {
    if (port > 0 && port < PORTS && !SERVERS[port]) {
      SERVERS[port] = true;
    }
  }

  static boolean isServer(int port) {
    return port > 0 && port < PORTS && SERVERS[port];
  }
}
