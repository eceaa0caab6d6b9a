package io.iostrata.segment;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;

/**
 * The segments of a process: makes them below the cap, and gives those again that the collector has
 * drained. Keeps every mapping, which therefore never goes away under a writer.
 */
final class SegmentPool {
  /** Of the cap, threads that grow may take three quarters; first segments seven eighths. */
  private static final int GROWTH_EIGHTHS = 6;

  private static final int FIRST_EIGHTHS = 7;
  private static final int ALL_EIGHTHS = 8;

  private final RecorderFiles files;
  private final Path directory;
  private final long proc;
  private final long capBytes;
  private final int firstRing;
  private final int firstRows;
  private final byte[] layerOfPoint;
  private final ArrayList<Segment> sealed = new ArrayList<>();
  private int lastSerial;
  private long usedBytes;

  SegmentPool(Path directory, Recorder.Options options) {
    this.files = options.files;
    this.directory = directory;
    this.proc = options.proc;
    this.capBytes = options.capBytes;
    this.firstRing = options.ringSlots;
    this.firstRows = options.tableRows;
    this.layerOfPoint = options.layerOfPoint;
  }

  /**
   * A thread's first segment, with a ring if the cap allows one; null when it allows none.
   *
   * @throws IOException when the file system has no room or refuses
   */
  synchronized Segment first() throws IOException {
    int rows = firstRows + Recorder.collapsedRows(layerOfPoint);
    Segment segment = withRing();
    if (segment == null) {
      segment = drained(0, rows);
    }
    return segment == null ? make(0, rows, ALL_EIGHTHS) : segment;
  }

  /**
   * One as a thread begins with; null when the cap allows none.
   *
   * @throws IOException when the file system has no room or refuses
   */
  synchronized Segment withRing() throws IOException {
    int rows = firstRows + Recorder.collapsedRows(layerOfPoint);
    Segment segment = drained(firstRing, rows);
    return segment == null ? make(firstRing, rows, FIRST_EIGHTHS) : segment;
  }

  /**
   * A successor of the size wanted, else a drained one of at least the least; null: none below the
   * cap.
   *
   * @throws IOException when the file system has no room or refuses
   */
  synchronized Segment successor(int ringSlots, int tableRows, int leastRing, int leastRows)
      throws IOException {
    Segment segment = drained(ringSlots, tableRows);
    if (segment == null) {
      segment = make(ringSlots, tableRows, GROWTH_EIGHTHS);
    }
    return segment == null ? drained(leastRing, leastRows) : segment;
  }

  synchronized void seal(Segment segment) {
    if (segment.sealed) {
      return;
    }
    segment.seal();
    if (!segment.exhausted()) {
      sealed.add(segment);
    }
  }

  /** Forgets the mappings; no segment is made from here on. */
  synchronized void release() {
    sealed.clear();
    usedBytes = Long.MAX_VALUE / 2;
  }

  synchronized long usedBytes() {
    return usedBytes;
  }

  /** The smallest drained segment that is large enough. */
  private Segment drained(int ringSlots, int tableRows) {
    int best = -1;
    for (int i = 0; i < sealed.size(); i++) {
      Segment segment = sealed.get(i);
      if (segment.ringSlots >= ringSlots
          && segment.tableRows >= tableRows
          && (best < 0 || segment.size() < sealed.get(best).size())
          && segment.drained()) {
        best = i;
      }
    }
    if (best < 0) {
      return null;
    }
    Segment found = sealed.get(best);
    sealed.set(best, sealed.get(sealed.size() - 1));
    sealed.remove(sealed.size() - 1);
    return found;
  }

  private Segment make(int ringSlots, int tableRows, int eighths) throws IOException {
    int size = Segment.size(ringSlots, tableRows);
    if (usedBytes + size > capBytes / ALL_EIGHTHS * eighths) {
      return null;
    }
    int serial = lastSerial + 1;
    MappedByteBuffer memory = files.create(directory.resolve(serial + ".seg").toString(), size);
    Segment segment = new Segment(memory, proc, serial, ringSlots, tableRows);
    lastSerial = serial;
    usedBytes += size;
    return segment;
  }
}
