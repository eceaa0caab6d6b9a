package io.iostrata.agent;

import io.iostrata.segment.Schema;
import java.lang.reflect.Array;

/**
 * {@code pipeline(streamer)}: the path that a DataStreamer writes. Its peer is the DataNode that
 * the streamer holds for failed, {@code address:port} as the NameNode lists it; none where none is.
 */
final class PipelineTarget extends Extractor {
  private static final FieldOf PATH = new FieldOf("src");
  private static final FieldOf NODES = new FieldOf("nodes");
  private static final FieldOf ERRORS = new FieldOf("errorState");
  private static final FieldOf FAILED = new FieldOf("badNodeIndex");
  private static final Getter ADDRESS = new Getter("getXferAddr");

  @Override
  long of(Probe probe, Object streamer, Object unused) throws Throwable {
    String path = (String) PATH.of(streamer);
    Object nodes = NODES.of(streamer);
    int failed = FAILED.intOf(ERRORS.of(streamer));
    if (nodes == null || failed < 0 || failed >= Array.getLength(nodes)) {
      return HdfsTarget.ofPath(probe, path);
    }
    String address = (String) ADDRESS.of(Array.get(nodes, failed));
    int peer = (int) Hooks.recorder.name(Schema.CATEGORY_SOCKET, address);
    return Hooks.recorder.name(Schema.CATEGORY_HDFS, path, peer, -1, -1);
  }
}
