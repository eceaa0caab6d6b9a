import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * Closes descriptors that are not its own, as daemons and broken native code do, and uses their
 * numbers for folders and files of its own; then threads, names and classes come that the agent has
 * not seen: `Closes FOLDER TEXT`, of descriptors whose path holds TEXT and that are no jar.
 */
public final class Closes {
  private static final int NUMBERS = 12;
  private static final int THREADS = 40;
  private static final int CALLS = 10;
  private static final int NAMES = 1500; // of 200 characters: more than one dictionary file

  private Closes() {}

  public static void main(String[] args) throws Exception {
    Path folder = Paths.get(args[0]);
    append(folder.resolve("after"), 1);
    int closed = closeAll(args[1]);
    List<DirectoryStream<Path>> folders = new ArrayList<>();
    List<FileOutputStream> files = new ArrayList<>();
    for (int i = 0; i < NUMBERS; i++) {
      folders.add(Files.newDirectoryStream(folder));
      FileOutputStream file = new FileOutputStream(folder.resolve("own-" + i).toFile());
      file.write(new byte[CALLS]);
      files.add(file);
    }
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Path path = folder.resolve("after-" + i);
      threads.add(new Thread(() -> append(path, CALLS)));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    String name = new String(new char[200]).replace('\0', 'x');
    for (int i = 0; i < NAMES; i++) {
      append(folder.resolve(name), 1);
      Files.delete(folder.resolve(name));
      name = name.substring(0, 195) + String.format("%05d", i);
    }
    new java.io.RandomAccessFile(folder.resolve("after").toFile(), "r").close();
    for (FileOutputStream file : files) {
      file.write(new byte[CALLS]);
    }
    System.out.println("closed " + closed);
  }

  private static int closeAll(String text) throws Exception {
    Constructor<FileDescriptor> numbered = FileDescriptor.class.getDeclaredConstructor(int.class);
    numbered.setAccessible(true);
    int closed = 0;
    for (String number : new File("/proc/self/fd").list()) {
      String target = target(number);
      if (target.contains(text) && !target.endsWith(".jar")) {
        new FileOutputStream(numbered.newInstance(Integer.parseInt(number))).close();
        closed++;
      }
    }
    return closed;
  }

  private static String target(String number) {
    try {
      return Files.readSymbolicLink(Paths.get("/proc/self/fd", number)).toString();
    } catch (IOException e) {
      return ""; // that of the list itself
    }
  }

  private static void append(Path path, int calls) {
    try (FileOutputStream out = new FileOutputStream(path.toFile(), true)) {
      for (int n = 0; n < calls; n++) {
        out.write(new byte[16]);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
