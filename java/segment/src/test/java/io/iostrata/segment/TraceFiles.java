package io.iostrata.segment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The process page and the dictionaries, as {@link TraceReader} reads them. */
final class TraceFiles {
  private TraceFiles() {}

  static TraceReader.Page page(Path path) throws IOException {
    ByteBuffer page = wrap(path);
    check(page, Schema.FILE_KIND_PROCESS, "process");
    List<Long> counters = new ArrayList<>();
    for (int i = 0; i <= Schema.PROCESS_COUNTER_UNBALANCED; i++) {
      counters.add(page.getLong(Schema.PROCESS_COUNTERS + 8 * i));
    }
    byte[] text = new byte[page.getInt(Schema.PROCESS_TEXT_SIZE)];
    page.position(Schema.PROCESS_TEXT).get(text);
    return new TraceReader.Page(
        page.getLong(Schema.PROCESS_PROC),
        page.getInt(Schema.PROCESS_PID),
        page.getInt(Schema.PROCESS_UID),
        page.getLong(Schema.PROCESS_PID_START),
        page.getLong(Schema.PROCESS_START),
        page.getLong(Schema.PROCESS_POINTS_HASH),
        page.getInt(Schema.PROCESS_STATE),
        page.getInt(Schema.PROCESS_SEEN_CONTROL),
        counters,
        new String(text, StandardCharsets.UTF_8));
  }

  static ByteBuffer wrap(Path path) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
  }

  static void check(ByteBuffer memory, int kind, String name) {
    if (memory.getInt(0) != Schema.MAGIC
        || memory.getShort(Schema.PREAMBLE_VERSION) != Schema.VERSION
        || memory.getShort(Schema.PREAMBLE_FILE_KIND) != kind) {
      throw new AssertionError(name + " begins with " + Long.toHexString(memory.getLong(0)));
    }
  }

  /** Adds the entries of a dictionary file. */
  static void entries(Path path, Map<Integer, TraceReader.Entry> entries) {
    try {
      ByteBuffer file = wrap(path);
      if (file.capacity() < Schema.DICTIONARY_HEADER) {
        return;
      }
      int used = file.getInt(Schema.DICTIONARY_USED);
      for (int at = Schema.DICTIONARY_HEADER; at < Schema.DICTIONARY_HEADER + used; ) {
        byte[] name = new byte[file.getShort(at + Schema.ENTRY_NAME_SIZE) & 0xFFFF];
        file.get(at + Schema.ENTRY_NAME, name);
        TraceReader.Entry entry =
            new TraceReader.Entry(
                file.getInt(at + Schema.ENTRY_ID),
                file.get(at + Schema.ENTRY_CATEGORY) & 0xFF,
                new String(name, StandardCharsets.UTF_8),
                file.getInt(at + Schema.ENTRY_PARENT),
                file.getLong(at + Schema.ENTRY_BLOCK),
                file.getLong(at + Schema.ENTRY_GENERATION));
        entries.put(entry.id(), entry);
        at += file.getInt(at + Schema.ENTRY_SIZE);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
