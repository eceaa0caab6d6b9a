package io.iostrata.jobs.tfidf;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.util.LineReader;

/**
 * The requests whose first line starts within a split, each whole, wherever the split ends. Between
 * {@code Start} and the {@code End} of the same id, all lines are the request's.
 */
final class RequestReader extends RecordReader<LongWritable, Text> {
  private static final byte[] START = Request.START.getBytes(StandardCharsets.UTF_8);
  private static final byte[] NEWLINE = {'\n'};

  private final LongWritable key = new LongWritable();
  private final Text record = new Text();
  private final Text line = new Text();
  private LineReader lines;
  private Path path;
  private long start;
  private long end;
  private long position; // of the next line

  @Override
  public void initialize(InputSplit split, TaskAttemptContext context) throws IOException {
    FileSplit file = (FileSplit) split;
    path = file.getPath();
    start = file.getStart();
    end = start + file.getLength();
    // From one byte before: a line that starts with the split is not skipped with the one before.
    position = Math.max(0, start - 1);
    FSDataInputStream in = path.getFileSystem(context.getConfiguration()).open(path);
    try {
      in.seek(position);
      lines = new LineReader(in, context.getConfiguration());
      if (start > 0) {
        position += lines.readLine(line);
      }
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  @Override
  public boolean nextKeyValue() throws IOException {
    while (position < end) {
      long lineStart = position;
      if (!nextLine()) {
        return false;
      }
      if (startsRequest()) {
        key.set(lineStart);
        readRest();
        return true;
      }
    }
    return false;
  }

  /** All lines until the end of the request whose first line was just read. */
  private void readRest() throws IOException {
    Text ending = new Text(Request.END);
    ending.append(line.getBytes(), START.length, line.getLength() - START.length);
    record.clear();
    append();
    do {
      if (!nextLine()) {
        throw new EOFException(path + " ends within the request at byte " + key);
      }
      append();
    } while (!line.equals(ending));
  }

  private void append() {
    record.append(line.getBytes(), 0, line.getLength());
    record.append(NEWLINE, 0, 1);
  }

  private boolean nextLine() throws IOException {
    int read = lines.readLine(line);
    position += read;
    return read > 0;
  }

  private boolean startsRequest() {
    return line.getLength() >= START.length
        && ByteBuffer.wrap(line.getBytes(), 0, START.length).equals(ByteBuffer.wrap(START));
  }

  @Override
  public LongWritable getCurrentKey() {
    return key;
  }

  @Override
  public Text getCurrentValue() {
    return record;
  }

  @Override
  public float getProgress() {
    return end == start ? 1 : Math.min(1f, (position - start) / (float) (end - start));
  }

  @Override
  public void close() throws IOException {
    if (lines != null) {
      lines.close();
    }
  }
}
