package io.iostrata.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class SocketTargetTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  @Test
  void aServerHasItsPortAndWhoComesInHasNone() throws Throwable {
    try (ServerSocket server = new ServerSocket(0, 1, HERE);
        Socket out = new Socket(HERE, server.getLocalPort());
        Socket in = server.accept()) {
      new SocketAccepted().of(null, in, null);

      assertThat(SocketTarget.name(out, null))
          .isEqualTo(HERE.getHostAddress() + ":" + server.getLocalPort());
      assertThat(SocketTarget.name(in, null)).isEqualTo(HERE.getHostAddress());
    }
  }

  @Test
  void nobodyIsAskedForAName() {
    InetSocketAddress peer = InetSocketAddress.createUnresolved("no.such.host", 8020);

    assertThat(SocketTarget.name(peer, null)).isEmpty();
  }

  /** What a class of somebody else does in its getters, nobody knows. */
  @Test
  void onlySocketsOfTheJdkAreAsked() throws Exception {
    try (Socket hostile =
        new Socket() {
          @Override
          public InetAddress getInetAddress() {
            throw new IllegalStateException();
          }
        }) {
      assertThat(SocketTarget.name(hostile, null)).isEmpty();
    }
  }

  @Test
  void aStreamOfAnOldJdkIsThatOfItsSocket() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, HERE);
        Socket out = new Socket(HERE, server.getLocalPort());
        java.io.FileInputStream stream = new java.io.FileInputStream("/dev/null")) {
      new SocketStreams().of(null, stream, out);

      assertThat(SocketTarget.name(stream, null)).endsWith(":" + server.getLocalPort());
    }
  }
}
