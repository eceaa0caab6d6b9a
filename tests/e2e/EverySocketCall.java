import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * Sends bytes to itself, each time from a connection that it made to one that came in, and says on
 * which ports: CHANNELS STREAMS. The argument is a file of 100 bytes to be sent.
 *
 * <p>What is sent here is a few bytes, there as a whole before anybody reads: one call gets it.
 */
public final class EverySocketCall {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private EverySocketCall() {}

  public static void main(String[] args) throws Exception {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(HERE, 0));
      System.out.print(((InetSocketAddress) server.getLocalAddress()).getPort() + " ");
      try (SocketChannel out = SocketChannel.open(server.getLocalAddress())) {
        channels(out, server.accept(), args[0]);
      }
      server.socket().setSoTimeout(60_000); // accepts in another way then
      try (SocketChannel out = SocketChannel.open(server.getLocalAddress())) {
        streams(out.socket(), server.socket().accept());
      }
    }
    try (ServerSocket server = new ServerSocket(0, 1, HERE)) {
      System.out.println(server.getLocalPort());
      try (Socket out = new Socket(HERE, server.getLocalPort())) {
        streams(out, server.accept());
      }
    }
  }

  private static ByteBuffer[] two() {
    return new ByteBuffer[] {ByteBuffer.allocate(30), ByteBuffer.allocate(20)};
  }

  /** 100, 50 and 60 bytes in three calls, received in four, of which the last finds nothing. */
  private static void channels(SocketChannel out, SocketChannel in, String file) throws Exception {
    out.write(ByteBuffer.allocate(100));
    in.read(ByteBuffer.allocate(1000));
    out.write(two());
    in.read(two());
    try (RandomAccessFile data = new RandomAccessFile(file, "r");
        FileChannel channel = data.getChannel()) {
      channel.transferTo(40, 60, out);
    }
    in.read(ByteBuffer.allocate(1000));
    in.configureBlocking(false);
    in.read(ByteBuffer.allocate(1000));
    in.close();
  }

  /** 70 and 1 bytes in two calls, received in three, of which the last meets the end. */
  private static void streams(Socket out, Socket in) throws Exception {
    OutputStream sends = out.getOutputStream();
    InputStream receives = in.getInputStream();
    sends.write(new byte[80], 5, 70);
    receives.read(new byte[1000]);
    sends.write(7);
    receives.read();
    out.close();
    receives.read(new byte[10]);
    in.close();
  }
}
