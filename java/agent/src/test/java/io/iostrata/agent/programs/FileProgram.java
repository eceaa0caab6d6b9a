package io.iostrata.agent.programs;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Each way to move bytes once or twice, and what was moved on standard output. */
public final class FileProgram {
  private FileProgram() {}

  public static void main(String[] arguments) throws IOException {
    File directory = new File(arguments[0]);
    streams(new File(directory, "stream.txt"));
    random(new File(directory, "random.xml"));
    channels(directory.toPath());
    descriptor(new File(directory, "blk_1073741825"));
    descriptor(new File(directory, "blk_1073741825_1001.meta"));
    failures(new File(directory, "stream.txt"));
  }

  private static void streams(File file) throws IOException {
    try (FileOutputStream out = new FileOutputStream(file)) {
      out.write('a');
      out.write(new byte[99]);
      out.write(new byte[100], 10, 50);
    }
    try (FileInputStream in = new FileInputStream(file)) {
      System.out.println(in.read());
      System.out.println(in.read(new byte[100]));
      System.out.println(in.read(new byte[100], 50, 25));
      System.out.println(in.readNBytes(20).length);
      System.out.println(in.read(new byte[100], 0, 100));
      System.out.println(in.read(new byte[100]));
      System.out.println(in.read());
    }
  }

  private static void random(File file) throws IOException {
    try (RandomAccessFile random = new RandomAccessFile(file, "rw")) {
      random.write(1);
      random.write(new byte[10]);
      random.write(new byte[10], 0, 5);
      random.writeBytes("four");
      random.seek(0);
      System.out.println(random.read());
      System.out.println(random.read(new byte[8]));
      System.out.println(random.read(new byte[8], 0, 4));
      random.readFully(new byte[7]);
    }
  }

  private static void channels(Path directory) throws IOException {
    Path from = directory.resolve("from");
    Path to = directory.resolve("to");
    try (FileChannel a =
            FileChannel.open(
                from,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.READ);
        FileChannel b =
            FileChannel.open(
                to, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
      System.out.println(a.write(ByteBuffer.allocate(1000)));
      System.out.println(a.write(ByteBuffer.allocate(24), 1000));
      System.out.println(
          a.write(new ByteBuffer[] {ByteBuffer.allocate(1), ByteBuffer.allocate(2)}));
      System.out.println(a.read(ByteBuffer.allocate(100), 1000));
      System.out.println(a.transferTo(0, 512, b));
      System.out.println(b.transferFrom(a.position(0), 512, 100));
      a.position(1020);
      System.out.println(a.read(ByteBuffer.allocate(10)));
      System.out.println(a.read(ByteBuffer.allocate(10)));
      b.force(true);
    }
  }

  /** As the DataNode does it: the stream knows no path. */
  private static void descriptor(File file) throws IOException {
    try (RandomAccessFile random = new RandomAccessFile(file, "rw")) {
      new FileOutputStream(random.getFD()).write(new byte[7]);
      random.seek(0);
      System.out.println(new FileInputStream(random.getFD()).read(new byte[100]));
    }
  }

  private static void failures(File file) throws IOException {
    FileInputStream in = new FileInputStream(file);
    in.close();
    try {
      in.read(new byte[10]);
    } catch (IOException e) {
      System.out.println(e);
    }
    try {
      in.read(null, 0, 1);
    } catch (NullPointerException e) {
      e.printStackTrace();
    }
  }
}
