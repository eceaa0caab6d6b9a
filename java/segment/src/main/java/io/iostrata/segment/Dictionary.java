package io.iostrata.segment;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;

/**
 * The names of a process: dict-0, dict-1, … What is remembered here never exceeds one file: at a
 * new one the table is forgotten, and a name met again gets a new id.
 */
final class Dictionary {
  /** Bytes of a name; longer ones are cut. */
  static final int MAX_NAME = 4096;

  private static final long RETRY_NANOS = 1_000_000_000L;

  private final RecorderFiles mapped;
  private final Path directory;
  private final long proc;
  private final int fileBytes;
  private final int maxFiles;
  private final HashMap<Name, Integer> ids = new HashMap<>();

  private MappedByteBuffer memory;
  private int number = -1;
  private int oldest;
  private int used;
  private int lastId;
  private boolean rejected;
  private boolean released;
  private long rejectedAt;

  /**
   * @param maxFiles files that may exist at a time; the collector unlinks those it has read
   */
  Dictionary(RecorderFiles mapped, Path directory, long proc, int fileBytes, int maxFiles) {
    this.mapped = mapped;
    this.directory = directory;
    this.proc = proc;
    this.fileBytes = fileBytes;
    this.maxFiles = maxFiles;
  }

  /** Id of the entry, from 1; 0 when it could not be written. */
  synchronized int id(int category, String name, int parent, long block, long generation) {
    Name key = new Name(category, name, parent, block, generation);
    Integer known = ids.get(key);
    if (known != null) {
      return known;
    }
    byte[] bytes = utf8(name, MAX_NAME);
    int size = Schema.ENTRY_NAME + bytes.length + 7 & ~7;
    if ((memory == null || used + size > capacity()) && !nextFile()) {
      return 0;
    }
    write(bytes, size, key);
    ids.put(key, lastId);
    return lastId;
  }

  /** Lets go of file and names; entries are rejected from here on. */
  synchronized void release() {
    memory = null;
    ids.clear();
    released = true;
  }

  /** Names remembered now. */
  synchronized int remembered() {
    return ids.size();
  }

  private int capacity() {
    return fileBytes - Schema.DICTIONARY_HEADER;
  }

  private void write(byte[] name, int size, Name key) {
    int at = Schema.DICTIONARY_HEADER + used;
    memory.putInt(at + Schema.ENTRY_SIZE, size);
    memory.putInt(at + Schema.ENTRY_ID, ++lastId);
    memory.put(at + Schema.ENTRY_CATEGORY, (byte) key.category);
    memory.putShort(at + Schema.ENTRY_NAME_SIZE, (short) name.length);
    memory.putInt(at + Schema.ENTRY_PARENT, key.parent);
    memory.putLong(at + Schema.ENTRY_BLOCK, key.block);
    memory.putLong(at + Schema.ENTRY_GENERATION, key.generation);
    for (int i = 0; i < name.length; i++) {
      memory.put(at + Schema.ENTRY_NAME + i, name[i]);
    }
    used += size;
    Fence.release();
    memory.putInt(Schema.DICTIONARY_USED, used);
  }

  private boolean nextFile() {
    if (released || rejected && System.nanoTime() - rejectedAt < RETRY_NANOS) {
      return false;
    }
    try {
      if (files() >= maxFiles) {
        throw new IOException("all dictionary files are in use");
      }
      Path path = directory.resolve("dict-" + (number + 1));
      MappedByteBuffer next = mapped.create(path.toString(), fileBytes);
      next.order(ByteOrder.LITTLE_ENDIAN);
      next.putLong(Schema.DICTIONARY_PROC, proc);
      next.putInt(Schema.DICTIONARY_NUMBER, number + 1);
      next.putInt(Schema.DICTIONARY_CAPACITY, capacity());
      Fence.release();
      MappedFile.preamble(next, Schema.FILE_KIND_DICTIONARY);
      if (memory != null) {
        Fence.release();
        memory.putInt(Schema.DICTIONARY_SEALED, 1);
      }
      memory = next;
      number++;
      used = 0;
      ids.clear();
      rejected = false;
      return true;
    } catch (IOException e) {
      rejected = true;
      rejectedAt = System.nanoTime();
      return false;
    }
  }

  /** Dictionary files that exist: the collector may unlink sealed ones. */
  private int files() {
    while (oldest <= number && !Files.exists(directory.resolve("dict-" + oldest))) {
      oldest++;
    }
    return number + 1 - oldest;
  }

  /** UTF-8 of the text, cut at a character when longer than {@code max}. */
  static byte[] utf8(String text, int max) {
    // A char is at least one byte: what lies beyond max can never fit.
    String head = text.length() > max ? text.substring(0, max) : text;
    byte[] bytes = head.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= max) {
      return bytes;
    }
    int end = max;
    while ((bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    byte[] cut = new byte[end];
    System.arraycopy(bytes, 0, cut, 0, end);
    return cut;
  }

  private static final class Name {
    final int category;
    final String name;
    final int parent;
    final long block;
    final long generation;

    Name(int category, String name, int parent, long block, long generation) {
      this.category = category;
      this.name = name;
      this.parent = parent;
      this.block = block;
      this.generation = generation;
    }

    @Override
    public int hashCode() {
      int hash = name.hashCode() * 31 + category;
      hash = hash * 31 + parent;
      hash = hash * 31 + (int) (block ^ block >>> 32);
      return hash * 31 + (int) (generation ^ generation >>> 32);
    }

    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Name)) {
        return false;
      }
      Name that = (Name) other;
      return category == that.category
          && parent == that.parent
          && block == that.block
          && generation == that.generation
          && name.equals(that.name);
    }
  }
}
