import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Obeys lines WORD FOLDER THREADS CALLS, and answers each. A virtual thread v-N writes 16 bytes that
 * often into FOLDER/N.a, lets others have its carrier in between, copies it to N.b, and sends a byte
 * to an echo on loopback, from which it gets it back. For {@code pin} one more parks inside a class
 * initializer, which pins it.
 */
public final class VirtualThreads {
  private static final AtomicInteger FAILED = new AtomicInteger();

  private VirtualThreads() {}

  private static final class Pinned {
    static {
      LockSupport.parkNanos(50_000_000);
    }

    static void touch() {}
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    ThreadFactory named = Thread.ofVirtual().name("v-", 0).factory();
    int begun = 0;
    try (ServerSocket server = new ServerSocket()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 5000);
      Thread.ofPlatform().daemon().name("accepts").start(() -> serve(server));
      System.out.println("ready");
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        int threads = Integer.parseInt(words[2]);
        if (words[0].equals("pin")) {
          Thread.ofVirtual().start(Pinned::touch).join();
        }
        try (ExecutorService all = Executors.newThreadPerTaskExecutor(named)) {
          for (int i = 0; i < threads; i++) {
            String path = words[1] + "/" + begun++;
            all.submit(() -> tries(path, Integer.parseInt(words[3]), server));
          }
        }
        System.out.println(words[0] + " " + begun + " " + FAILED);
      }
    }
  }

  private static void tries(String path, int calls, ServerSocket server) {
    try {
      work(path, calls, server);
    } catch (Throwable e) {
      e.printStackTrace();
      FAILED.incrementAndGet();
    }
  }

  private static void work(String path, int calls, ServerSocket server) throws Exception {
    try (FileOutputStream out = new FileOutputStream(path + ".a")) {
      for (int i = 0; i < calls; i++) {
        out.write(new byte[16]);
        Thread.yield();
      }
    }
    try (FileInputStream in = new FileInputStream(path + ".a");
        FileOutputStream out = new FileOutputStream(path + ".b")) {
      byte[] bytes = new byte[16];
      for (int i = 0; i < calls; i++) {
        in.read(bytes);
        Thread.yield();
        out.write(bytes);
      }
    }
    try (FileInputStream in = new FileInputStream(path + ".a")) {
      in.transferTo(new ByteArrayOutputStream()); // reads inside
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
      socket.getOutputStream().write(7);
      if (socket.getInputStream().read() != 7) {
        throw new IllegalStateException("no echo");
      }
    }
  }

  private static void serve(ServerSocket server) {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofVirtual().name("echo").start(() -> echo(socket));
      }
    } catch (Exception e) {
      // closed: the program is done
    }
  }

  private static void echo(Socket socket) {
    try (socket;
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream()) {
      out.write(in.read());
    } catch (Exception e) {
      FAILED.incrementAndGet();
    }
  }
}
