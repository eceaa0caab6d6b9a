package io.iostrata.agent;

/** All extractors by the name that points use: the one place to register a new one. */
final class Extractors {
  private Extractors() {}

  /** Null when the point asks for none. */
  static Extractor of(Extraction extraction) {
    return extraction == null ? null : named(extraction.name);
  }

  static Extractor named(String name) {
    switch (name) {
      case "file":
        return new FileTarget();
      case "asynchronous":
        return new AsynchronousTarget();
      case "opened":
        return new AsynchronousTarget.Opened();
      case "result":
        return new ResultBytes();
      case "ranges":
        return new RangeBytes();
      case "socket":
        return new SocketTarget();
      case "streams":
        return new SocketStreams();
      case "accepted":
        return new SocketAccepted();
      case "netty":
        return new NettySocket();
      case "netty_accepted":
        return new NettySocket.Accepted();
      case "netty_connected":
        return new NettySocket.Connected();
      case "netty_file":
        return new NettyFile();
      case "hdfs":
        return new HdfsTarget();
      case "filesystem":
        return new FileSystemTarget();
      case "stream":
        return new StreamTarget();
      case "block":
        return new BlockTarget();
      case "rpc":
        return new RpcTarget();
      case "records":
        return new RecordTarget();
      case "spill":
        return new SpillTarget();
      case "placed":
        return new PlacedTarget();
      case "shuffle":
        return new ShuffleTarget();
      case "served":
        return new ServedTarget();
      case "works_for":
        return new JobContext();
      case "packet":
        return new PacketBytes();
      case "client":
        return new ClientContext();
      case "holds":
        return new ClientHeld();
      case "job":
        return new JobSubmitted();
      case "phase":
        return new TaskPhase();
      case "descriptor":
        return new DescriptorOpened();
      case "wraps":
        return new StreamWrapped();
      case "received":
        return new HeaderReceiver();
      case "carries":
        return new HeaderSender();
      case "chunk":
        return new ChunkBytes();
      case "requests":
        return new RequestSender();
      case "requested":
        return new RequestReceiver(new Getter("uri"), null);
      case "requested_event":
        return new RequestReceiver(new Getter("getUri"), new Getter("getMessage"));
      case "hands":
        return new HandOver.Gives();
      case "handed":
        return new HandOver.Takes();
      case "method":
        return new ProtocolTarget();
      case "spark_task":
        return new SparkTask();
      case "application":
        return new ApplicationStarted();
      case "lengths":
        return new LengthsBytes();
      case "segment":
        return new SizeBytes("length");
      case "buffer":
        return new SizeBytes("size");
      case "shuffle_block":
        return new ShuffleBlockTarget();
      case "pipeline":
        return new PipelineTarget();
      case "region":
        return new RegionTarget();
      case "wal":
        return new WalTarget();
      case "hfile":
        return new HFileTarget();
      case "method_of":
        return new MethodTarget();
      case "edit":
        return new EditBytes();
      case "store_files":
        return new StoreFilesBytes();
      case "block_size":
        return new SizeBytes("getOnDiskSizeWithHeader");
      case "ended":
        return new ProcessEnded();
      case "child":
        return new ChildAccount();
      default:
        throw new IllegalArgumentException("no extractor is called " + name);
    }
  }
}
