import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/** Moves 32 MiB to a file. Arguments: how (stream, mapped or child), and the file. */
public final class Moves {
  private static final int BYTES = 32 << 20;
  private static final int BLOCK = 64 << 10;

  private Moves() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "stream":
        stream(args[1]);
        break;
      case "mapped":
        mapped(args[1]);
        break;
      default:
        child(args[1]);
    }
  }

  private static void stream(String file) throws IOException {
    try (OutputStream out = new FileOutputStream(file)) {
      for (int i = 0; i < BYTES; i += BLOCK) {
        out.write(new byte[BLOCK]);
      }
    }
    try (InputStream in = new FileInputStream(file)) {
      byte[] buffer = new byte[BLOCK];
      while (in.read(buffer) >= 0) {
        // only read
      }
    }
  }

  private static void mapped(String file) throws IOException {
    try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
      MappedByteBuffer map = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, BYTES);
      for (int i = 0; i < BYTES; i += BLOCK) {
        map.put(new byte[BLOCK]);
      }
      map.force();
    }
  }

  private static void child(String file) throws Exception {
    String[] dd = {"dd", "if=/dev/zero", "of=" + file, "bs=1M", "count=" + (BYTES >> 20)};
    new ProcessBuilder(dd).redirectErrorStream(true).start().waitFor();
  }
}
