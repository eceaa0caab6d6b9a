import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.Channels;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Calls each traced method of the java layer once, each on a file of its own: FOLDER/NAME. */
public final class EveryFileCall {
  private static final int SIZE = 100;
  private static String folder;

  private EveryFileCall() {}

  public static void main(String[] args) throws Exception {
    folder = args[0] + "/";
    byte[] bytes = new byte[SIZE];
    streams(bytes);
    random(bytes);
    reads();
    writes();
    mapped();
    asynchronous();
    takenAway();
  }

  /** One of each that succeeds, and one that finds nothing. */
  private static void takenAway() throws Exception {
    in("delete.io").close();
    in("delete.nio").close();
    in("rename.io").close();
    in("rename.nio").close();
    new java.io.File(folder, "delete.io").delete();
    new java.io.File(folder, "delete.io").delete();
    java.nio.file.Files.delete(Paths.get(folder + "delete.nio"));
    java.nio.file.Files.deleteIfExists(Paths.get(folder + "delete.nio"));
    new java.io.File(folder, "rename.io").renameTo(new java.io.File(folder, "renamed.io"));
    java.nio.file.Files.move(
        Paths.get(folder + "rename.nio"), Paths.get(folder + "renamed.nio"), REPLACE_EXISTING);
  }

  private static FileInputStream in(String name) throws Exception {
    java.nio.file.Files.write(Paths.get(folder + name), new byte[SIZE]);
    return new FileInputStream(folder + name);
  }

  private static void streams(byte[] bytes) throws Exception {
    in("in.byte").read();
    in("in.array").read(bytes);
    in("in.range").read(bytes, 0, 50);
    if (!System.getProperty("java.version").startsWith("1.8.")) {
      sinceJava9();
    }
    new FileOutputStream(folder + "out.byte").write(1);
    new FileOutputStream(folder + "out.array").write(bytes);
    new FileOutputStream(folder + "out.range").write(bytes, 10, 40);
  }

  private static void sinceJava9() throws Exception {
    FileInputStream.class.getMethod("readAllBytes").invoke(in("in.all"));
    FileInputStream.class.getMethod("readNBytes", int.class).invoke(in("in.n"), 60);
    java.io.InputStream.class
        .getMethod("transferTo", java.io.OutputStream.class)
        .invoke(in("in.transfer"), new ByteArrayOutputStream());
  }

  private static RandomAccessFile random(String name) throws Exception {
    in(name).close();
    return new RandomAccessFile(folder + name, "rw");
  }

  private static void random(byte[] bytes) throws Exception {
    random("raf.read.byte").read();
    random("raf.read.array").read(bytes);
    random("raf.read.range").read(bytes, 0, 70);
    random("raf.write.byte").write(1);
    random("raf.write.array").write(bytes);
    random("raf.write.range").write(bytes, 0, 30);
    random("raf.write.text").writeBytes("twelve bytes");
  }

  private static FileChannel channel(String name) throws Exception {
    return random(name).getChannel();
  }

  private static ByteBuffer[] two() {
    return new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocate(15)};
  }

  private static void reads() throws Exception {
    channel("ch.read").read(ByteBuffer.allocate(20));
    channel("ch.read.at").read(ByteBuffer.allocate(20), 90);
    channel("ch.read.scatter").read(two(), 0, 2);
    channel("ch.to").transferTo(5, 55, Channels.newChannel(new ByteArrayOutputStream()));
  }

  private static void writes() throws Exception {
    channel("ch.write").write(ByteBuffer.allocate(20));
    channel("ch.write.at").write(ByteBuffer.allocate(20), 7);
    channel("ch.write.gather").write(two(), 0, 2);
    channel("ch.from")
        .transferFrom(Channels.newChannel(new ByteArrayInputStream(new byte[45])), 0, 45);
    channel("ch.force").force(true);
  }

  private static void mapped() throws Exception {
    channel("ch.map").map(FileChannel.MapMode.READ_ONLY, 10, 80);
    Class<?> arena;
    try {
      arena = Class.forName("java.lang.foreign.Arena"); // JDK 22
    } catch (ClassNotFoundException e) {
      return;
    }
    FileChannel.class
        .getMethod("map", FileChannel.MapMode.class, long.class, long.class, arena)
        .invoke(
            channel("ch.map.arena"),
            FileChannel.MapMode.READ_ONLY,
            20,
            50,
            arena.getMethod("ofAuto").invoke(null));
  }

  /** Each call in a thread of the pool, all of which have ended when this returns. */
  private static void asynchronous() throws Exception {
    ExecutorService pool = Executors.newSingleThreadExecutor();
    asynchronous("async.read", pool).read(ByteBuffer.allocate(30), 60).get();
    asynchronous("async.read.end", pool).read(ByteBuffer.allocate(30), SIZE).get();
    asynchronous("async.write", pool).write(ByteBuffer.allocate(30), 5).get();
    asynchronous("async.force", pool).force(true);
    CountDownLatch done = new CountDownLatch(1);
    ByteBuffer buffer = ByteBuffer.allocate(40);
    asynchronous("async.read.handler", pool)
        .read(
            buffer,
            90,
            done,
            new CompletionHandler<Integer, CountDownLatch>() {
              @Override
              public void completed(Integer bytes, CountDownLatch done) {
                buffer.flip();
                done.countDown();
              }

              @Override
              public void failed(Throwable e, CountDownLatch done) {}
            });
    done.await();
    pool.shutdown();
    pool.awaitTermination(1, TimeUnit.MINUTES);
  }

  private static AsynchronousFileChannel asynchronous(String name, ExecutorService pool)
      throws Exception {
    in(name).close();
    return AsynchronousFileChannel.open(
        Paths.get(folder + name), EnumSet.of(READ, WRITE), pool);
  }
}
