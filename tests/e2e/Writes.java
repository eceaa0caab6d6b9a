import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;

/**
 * Writes a file of HDFS, a packet every 10 ms, until a local file is there. Arguments: the file, its
 * replication, a local file that gets the addresses of its DataNodes, and the one to wait for.
 */
public final class Writes {
  private Writes() {}

  public static void main(String[] args) throws Exception {
    String file = args[0];
    short replication = Short.parseShort(args[1]);
    DistributedFileSystem fs = (DistributedFileSystem) FileSystem.get(new Configuration());
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(file);
    try (FSDataOutputStream out = fs.create(path, replication)) {
      write(out);
      say(Paths.get(args[2]), pipeline(fs, file));
      while (!Files.exists(Paths.get(args[3]))) {
        write(out);
        Thread.sleep(10);
      }
      write(out);
    }
  }

  private static void write(FSDataOutputStream out) throws IOException {
    out.write(new byte[4096]);
    out.hflush();
  }

  private static List<String> pipeline(DistributedFileSystem fs, String file) throws IOException {
    List<String> found = new ArrayList<>();
    for (DatanodeInfo node :
        fs.getClient().getNamenode().getBlockLocations(file, 0, 1).get(0).getLocations()) {
      found.add(node.getXferAddr());
    }
    return found;
  }

  private static void say(Path to, List<String> lines) throws IOException {
    Path written = Paths.get(to + ".part");
    Files.write(written, lines, StandardCharsets.UTF_8);
    Files.move(written, to, StandardCopyOption.ATOMIC_MOVE);
  }
}
