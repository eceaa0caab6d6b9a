import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;

/**
 * Does each kind of I/O a known number of times, each on a target of its own, and says so.
 *
 * <pre>Known FOLDER HDFS-FOLDER          all kinds
 * Known FOLDER HDFS-FOLDER killed   reads, then kill -9 of itself</pre>
 *
 * Prints a line "KNOWN kind TAB count TAB bytes TAB target" for each kind.
 */
public final class Known {
  private static final int TIMES = 1000;
  private static final int MAPS = 10;
  private static final int SIZE = 4096;

  private static Path folder;

  private Known() {}

  public static void main(String[] args) throws Exception {
    folder = Path.of(args[0]);
    FileSystem fs = FileSystem.get(new Configuration());
    org.apache.hadoop.fs.Path base = new org.apache.hadoop.fs.Path(args[1]);
    fs.mkdirs(base);
    if (args.length > 2) {
      writeHdfs(fs, new org.apache.hadoop.fs.Path(base, "killed-hdfs"), "");
      readStream("killed FileInputStream.read", source("killed"));
      readHdfs(fs, new org.apache.hadoop.fs.Path(base, "killed-hdfs"), "killed ");
      kill();
    }
    streams();
    channels();
    asynchronous();
    sockets();
    socketChannels();
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(base, "hdfs");
    writeHdfs(fs, file, "hdfs write");
    readHdfs(fs, file, "");
    status(fs, file);
  }

  private static void say(String kind, int count, Object target) {
    if (!kind.isEmpty()) {
      System.out.println("KNOWN " + kind + "\t" + count + "\t" + SIZE + "\t" + target);
    }
  }

  /** A file of TIMES * SIZE bytes that no traced call of another kind touches. */
  private static Path source(String name) throws IOException {
    Path path = folder.resolve(name);
    Path other = folder.resolve(name + ".draft");
    Files.write(other, new byte[TIMES * SIZE]);
    return Files.move(other, path);
  }

  private static void readStream(String kind, Path path) throws IOException {
    byte[] buffer = new byte[SIZE];
    try (FileInputStream in = new FileInputStream(path.toFile())) {
      for (int i = 0; i < TIMES; i++) {
        in.read(buffer);
      }
    }
    say(kind, TIMES, path);
  }

  private static void streams() throws IOException {
    byte[] buffer = new byte[SIZE];
    readStream("FileInputStream.read", source("input-stream"));
    Path written = folder.resolve("output-stream");
    try (FileOutputStream out = new FileOutputStream(written.toFile())) {
      for (int i = 0; i < TIMES; i++) {
        out.write(buffer);
      }
    }
    say("FileOutputStream.write", TIMES, written);
    Path random = folder.resolve("random-write");
    try (RandomAccessFile out = new RandomAccessFile(random.toFile(), "rw")) {
      for (int i = 0; i < TIMES; i++) {
        out.write(buffer);
      }
    }
    say("RandomAccessFile.write", TIMES, random);
    Path read = source("random-read");
    try (RandomAccessFile in = new RandomAccessFile(read.toFile(), "r")) {
      for (int i = 0; i < TIMES; i++) {
        in.read(buffer);
      }
    }
    say("RandomAccessFile.read", TIMES, read);
  }

  private static void channels() throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
    Path read = source("channel-read");
    try (FileChannel in = FileChannel.open(read)) {
      for (int i = 0; i < TIMES; i++) {
        buffer.clear();
        in.read(buffer);
      }
    }
    say("FileChannel.read", TIMES, read);
    Path written = folder.resolve("channel-write");
    try (FileChannel out = create(written)) {
      for (int i = 0; i < TIMES; i++) {
        buffer.clear();
        out.write(buffer);
      }
    }
    say("FileChannel.write", TIMES, written);
    Path from = source("transfer");
    try (FileChannel in = FileChannel.open(from);
        FileChannel out = create(folder.resolve("transferred"))) {
      for (int i = 0; i < TIMES; i++) {
        in.transferTo((long) i * SIZE, SIZE, out);
      }
    }
    say("FileChannel.transferTo", TIMES, from);
    Path mapped = source("mapped");
    try (FileChannel in = FileChannel.open(mapped)) {
      for (int i = 0; i < MAPS; i++) {
        in.map(FileChannel.MapMode.READ_ONLY, (long) i * SIZE, SIZE).get();
      }
    }
    say("FileChannel.map", MAPS, mapped);
  }

  private static FileChannel create(Path path) throws IOException {
    return FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  private static void asynchronous() throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
    Path read = source("asynchronous-read");
    try (AsynchronousFileChannel in = AsynchronousFileChannel.open(read)) {
      for (int i = 0; i < TIMES; i++) {
        buffer.clear();
        in.read(buffer, (long) i * SIZE).get();
      }
    }
    say("AsynchronousFileChannel.read", TIMES, read);
  }

  /** One side sends, the other answers with a byte, so that each send is received by itself. */
  private static void sockets() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      client.setTcpNoDelay(true);
      OutputStream out = client.getOutputStream();
      InputStream in = accepted.getInputStream();
      byte[] buffer = new byte[SIZE];
      int received = 0;
      for (int i = 0; i < TIMES; i++) {
        out.write(buffer);
        for (int got = 0; got < SIZE; received++) {
          got += in.read(buffer, got, SIZE - got);
        }
      }
      say("Socket send", TIMES, server.getLocalPort());
      say("Socket receive", received, client.getLocalPort());
    }
  }

  private static void socketChannels() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (ServerSocketChannel server = ServerSocketChannel.open().bind(any);
        SocketChannel client = SocketChannel.open(server.getLocalAddress());
        SocketChannel accepted = server.accept()) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
      int sent = 0;
      int received = 0;
      for (int i = 0; i < TIMES; i++) {
        buffer.clear();
        for (; buffer.hasRemaining(); sent++) {
          client.write(buffer);
        }
        buffer.clear();
        for (; buffer.hasRemaining(); received++) {
          accepted.read(buffer);
        }
      }
      say("SocketChannel.write", sent, ((InetSocketAddress) server.getLocalAddress()).getPort());
      say("SocketChannel.read", received, ((InetSocketAddress) client.getLocalAddress()).getPort());
    }
  }

  private static void writeHdfs(FileSystem fs, org.apache.hadoop.fs.Path file, String kind)
      throws IOException {
    byte[] buffer = new byte[SIZE];
    try (FSDataOutputStream out = fs.create(file)) {
      for (int i = 0; i < TIMES; i++) {
        out.write(buffer, 0, SIZE);
      }
    }
    say(kind, TIMES, file.toUri().getPath());
  }

  private static void readHdfs(FileSystem fs, org.apache.hadoop.fs.Path file, String state)
      throws IOException {
    byte[] buffer = new byte[SIZE];
    try (FSDataInputStream in = fs.open(file)) {
      int calls = 0;
      for (long left = (long) TIMES * SIZE; left > 0; calls++) {
        left -= in.read(buffer, 0, SIZE);
      }
      // Positioned ones too: not all tools tell them apart.
      for (int i = 0; i < TIMES; i++, calls++) {
        in.read((long) i * SIZE, buffer, 0, SIZE);
      }
      say(state + "hdfs read", calls, file.toUri().getPath());
    }
  }

  private static void status(FileSystem fs, org.apache.hadoop.fs.Path file) throws IOException {
    for (int i = 0; i < TIMES; i++) {
      fs.getFileStatus(file);
    }
    say("NameNode getFileInfo", TIMES, file.toUri().getPath());
  }

  private static void kill() throws Exception {
    System.out.flush();
    new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start();
    Thread.sleep(60_000);
  }
}
