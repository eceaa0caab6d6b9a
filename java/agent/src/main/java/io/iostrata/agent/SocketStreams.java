package io.iostrata.agent;

import java.io.FileInputStream;
import java.io.FileOutputStream;

/** {@code streams(stream, socket)}: whose stream it is, where a stream does not know (JDK 8–12). */
final class SocketStreams extends Extractor {
  static final WeakIdentities<Object> SOCKETS = new WeakIdentities<>();

  @Override
  long of(Probe probe, Object stream, Object socket) {
    // Those old ones are file streams by inheritance; later ones are not, and know their socket.
    if (stream instanceof FileInputStream || stream instanceof FileOutputStream) {
      SOCKETS.put(stream, socket);
    }
    return 0;
  }
}
