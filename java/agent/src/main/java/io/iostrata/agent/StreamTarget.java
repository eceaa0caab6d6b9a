package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.io.FileOutputStream;

/** {@code stream(out)}: the file behind an output stream, as far as it can be seen. */
final class StreamTarget extends Extractor {
  private static final String HDFS = "org.apache.hadoop.hdfs.DFSOutputStream";
  private static final String LOCAL =
      "org.apache.hadoop.fs.RawLocalFileSystem$LocalFSFileOutputStream";
  private static final String DATA = "org.apache.hadoop.fs.FSDataOutputStream";

  /** Of tfs://; whole, the name would become one of this jar's when its classes are renamed. */
  private static final String OURS = ".tfs.TracedOutputStream";

  private static final String CHECKSUMMED =
      "org.apache.hadoop.fs.ChecksumFileSystem$ChecksumFSOutputSummer";
  private static final FieldOf HDFS_PATH = new FieldOf("src");
  private static final FieldOf LOCAL_FILE = new FieldOf("fos");
  private static final FieldOf CHECKSUMMED_DATA = new FieldOf("datas");
  private static final Getter WRAPPED = new Getter("getWrappedStream");

  /** More streams than this around a file are a loop. */
  private static final int MAX_DEPTH = 8;

  @Override
  long of(Probe probe, Object stream, Object unused) throws Throwable {
    if (stream == null) {
      return 0;
    }
    long handle = probe.streams.get(stream);
    if (handle == NameCache.ABSENT) {
      handle = resolve(probe, stream);
      probe.streams.put(stream, handle);
    }
    return handle;
  }

  @Override
  boolean isOfFirst(Object stream) {
    return stream != null;
  }

  private static long resolve(Probe probe, Object stream) throws Throwable {
    Object at = stream;
    for (int depth = 0; depth < MAX_DEPTH && at != null; depth++) {
      if (isA(at, HDFS)) {
        return HdfsTarget.ofPath(probe, (String) HDFS_PATH.of(at));
      }
      if (at instanceof FileOutputStream) {
        return FileTarget.ofDescriptor(probe, ((FileOutputStream) at).getFD());
      }
      at = inner(at);
    }
    return Hooks.recorder.name(Schema.CATEGORY_UNKNOWN, stream.getClass().getName());
  }

  /** What the stream writes to; null when nobody can tell. */
  private static Object inner(Object stream) throws Throwable {
    if (isA(stream, DATA) || stream.getClass().getName().endsWith(OURS)) {
      return WRAPPED.of(stream);
    }
    if (isA(stream, LOCAL)) {
      return LOCAL_FILE.of(stream);
    }
    if (isA(stream, CHECKSUMMED)) {
      Object data = CHECKSUMMED_DATA.of(stream);
      return data == null ? null : WRAPPED.of(data);
    }
    return StreamWrapped.INNER.get(stream);
  }

  private static boolean isA(Object stream, String name) {
    for (Class<?> type = stream.getClass(); type != null; type = type.getSuperclass()) {
      if (type.getName().equals(name)) {
        return true;
      }
    }
    return false;
  }
}
