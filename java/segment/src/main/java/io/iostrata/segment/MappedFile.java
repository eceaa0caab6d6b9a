package io.iostrata.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes the files of shared memory. */
final class MappedFile {
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);
  private static final int ATTEMPTS = 4;

  private MappedFile() {}

  /**
   * A new file of {@code size} zero bytes, mapped, little-endian.
   *
   * @throws IOException the file exists, or there is no room for it; then nothing is left behind
   */
  static MappedByteBuffer create(Path path, int size) throws IOException {
    // A pending interrupt would close our channel; it is the application's, so it is put back.
    boolean interrupted = Thread.interrupted();
    try {
      for (int attempt = 1; ; attempt++) {
        try {
          return attempt(path, size);
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
          if (attempt == ATTEMPTS) {
            throw e;
          }
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static MappedByteBuffer attempt(Path path, int size) throws IOException {
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    boolean made = false;
    try {
      // Writing reserves: a sparse mapping of a full tmpfs would fault inside the application.
      for (int left = size; left > 0; ) {
        ByteBuffer zeros = ZEROS.duplicate();
        zeros.limit(Math.min(left, zeros.capacity()));
        left -= channel.write(zeros);
      }
      MappedByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
      memory.order(ByteOrder.LITTLE_ENDIAN);
      made = true;
      return memory;
    } finally {
      channel.close();
      if (!made) {
        Files.deleteIfExists(path);
      }
    }
  }

  /** First eight bytes of every file. */
  static void preamble(MappedByteBuffer memory, int fileKind) {
    memory.putInt(Schema.PREAMBLE_MAGIC, Schema.MAGIC);
    memory.putShort(Schema.PREAMBLE_VERSION, (short) Schema.VERSION);
    memory.putShort(Schema.PREAMBLE_FILE_KIND, (short) fileKind);
  }
}
