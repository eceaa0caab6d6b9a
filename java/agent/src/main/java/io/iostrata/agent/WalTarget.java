package io.iostrata.agent;

/**
 * {@code wal(writer)}: the file of an asynchronous writer of HBase's WAL, which writes to DataNodes
 * itself, or to a stream of another file system.
 */
final class WalTarget extends Extractor {
  private static final String TO_STREAM = "org.apache.hadoop.hbase.io.asyncfs.WrapperAsyncFSOutput";
  private static final String TO_DATANODES =
      "org.apache.hadoop.hbase.io.asyncfs.FanOutOneBlockAsyncDFSOutput";
  private static final FieldOf OUTPUT = new FieldOf("output");
  private static final FieldOf STREAM = new FieldOf("out");
  private static final FieldOf PATH = new FieldOf("src");

  private final StreamTarget streams = new StreamTarget();

  @Override
  long of(Probe probe, Object writer, Object unused) throws Throwable {
    Object output = OUTPUT.of(writer);
    if (output == null) {
      return 0;
    }
    switch (output.getClass().getName()) {
      case TO_STREAM:
        return streams.of(probe, STREAM.of(output), null);
      case TO_DATANODES:
        return HdfsTarget.ofPath(probe, (String) PATH.of(output));
      default:
        return 0;
    }
  }
}
