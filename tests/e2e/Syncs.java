import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/** Writes 64 KiB to a file and forces them to its disk, again and again: `Syncs FILE SECONDS`. */
public final class Syncs {
  private Syncs() {}

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Integer.parseInt(args[1]));
    ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
    StandardOpenOption[] how = {StandardOpenOption.CREATE, StandardOpenOption.WRITE};
    try (FileChannel file = FileChannel.open(Paths.get(args[0]), how)) {
      while (System.nanoTime() < end) {
        bytes.clear();
        file.write(bytes, 0);
        file.force(true);
      }
    }
  }
}
