import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client of Netty's native transport sends a server what that sends back: one buffer, several at
 * once, and a file: `NettyEcho SIZE FILE`. Then it writes to a pipe and reads from it. Prints the
 * port of the server.
 */
public final class NettyEcho {
  private static final int PIPE = 16 << 10;

  private NettyEcho() {}

  /** Sends back what comes, or counts it. */
  private static final class Ends extends ChannelInitializer<Channel> {
    private final AtomicLong counted;
    private final CountDownLatch all;
    private final long expected;

    Ends(AtomicLong counted, CountDownLatch all, long expected) {
      this.counted = counted;
      this.all = all;
      this.expected = expected;
    }

    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext context, Object message) {
                  ByteBuf bytes = (ByteBuf) message;
                  if (counted == null) {
                    context.writeAndFlush(bytes);
                    return;
                  }
                  long now = counted.addAndGet(bytes.readableBytes());
                  bytes.release();
                  if (now == expected) {
                    all.countDown();
                  }
                }
              });
    }
  }

  public static void main(String[] args) throws Exception {
    int size = Integer.parseInt(args[0]);
    File file = new File(args[1]);
    long expected = 4L * size + file.length();
    AtomicLong counted = new AtomicLong();
    CountDownLatch all = new CountDownLatch(1);
    EpollEventLoopGroup group = new EpollEventLoopGroup(2);
    Channel server =
        new ServerBootstrap()
            .group(group)
            .channel(EpollServerSocketChannel.class)
            .childHandler(new Ends(null, null, 0))
            .bind("127.0.0.1", 0)
            .sync()
            .channel();
    Channel client =
        new Bootstrap()
            .group(group)
            .channel(EpollSocketChannel.class)
            .handler(new Ends(counted, all, expected))
            .connect(server.localAddress())
            .sync()
            .channel();
    client.writeAndFlush(full(size)).sync();
    for (int i = 0; i < 3; i++) {
      client.write(full(size));
    }
    client.flush();
    client.writeAndFlush(new DefaultFileRegion(file, 0, file.length())).sync();
    all.await();
    System.out.println(((InetSocketAddress) server.localAddress()).getPort());
    client.close().sync();
    server.close().sync();
    group.shutdownGracefully().sync();
    pipe(full(PIPE));
  }

  private static ByteBuf full(int size) {
    return ByteBufAllocator.DEFAULT.ioBuffer(size, size).writeZero(size);
  }

  /** Three times through a pipe, which is large enough: as a buffer, as several, by its address. */
  private static void pipe(ByteBuf buffer) throws Exception {
    ByteBuffer bytes = buffer.internalNioBuffer(0, PIPE);
    FileDescriptor[] ends = FileDescriptor.pipe();
    ends[1].write(bytes, 0, PIPE);
    ends[0].read(bytes, 0, PIPE);
    ends[1].writev(new ByteBuffer[] {bytes}, 0, 1, PIPE);
    ends[0].read(bytes, 0, PIPE);
    if (buffer.hasMemoryAddress()) {
      ends[1].writeAddress(buffer.memoryAddress(), 0, PIPE);
      ends[0].readAddress(buffer.memoryAddress(), 0, PIPE);
    }
    ends[0].close();
    ends[1].close();
  }
}
