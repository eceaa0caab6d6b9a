import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.io.ElasticByteBufferPool;

/** Calls all that tfs:// traces: URI, directory of the collector, run. Prints bytes of one read. */
public final class EveryTfsCall {
  private EveryTfsCall() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.set("fs.tfs.trace.dir", args[1]);
    conf.set("fs.tfs.trace.run", args[2]);
    FileSystem fs = FileSystem.get(URI.create(args[0]), conf);
    Path folder = new Path("/every-tfs");
    Path file = new Path(folder, "file");
    fs.mkdirs(folder);
    writes(fs, file);
    reads(fs, file);
    names(fs, folder, file);
    attributes(fs, folder, file);
    fs.rename(file, new Path(folder, "renamed"));
    fs.truncate(new Path(folder, "renamed"), 0);
    concat(fs, folder);
    uploads(fs, folder);
    try {
      fs.open(file);
    } catch (FileNotFoundException e) {
      fs.delete(folder, true);
    }
  }

  private static void writes(FileSystem fs, Path file) throws IOException {
    try (FSDataOutputStream out = fs.create(file)) {
      out.write(1);
      out.write(new byte[999]);
      out.hflush();
      out.hsync();
    }
    try (FSDataOutputStream out = fs.append(file)) {
      out.write(new byte[500]);
    }
  }

  private static void reads(FileSystem fs, Path file) throws Exception {
    try (FSDataInputStream in = fs.open(file)) {
      in.read();
      in.read(new byte[100]);
      in.read(ByteBuffer.allocate(50));
      ElasticByteBufferPool pool = new ElasticByteBufferPool();
      ByteBuffer got = in.read(pool, 64, EnumSet.noneOf(ReadOption.class));
      System.out.println(got.remaining());
      in.releaseBuffer(got);
      in.readFully(1000, new byte[200]);
      in.readFully(300, ByteBuffer.allocate(60));
      in.readVectored(
          Arrays.asList(FileRange.createFileRange(0, 100), FileRange.createFileRange(700, 100)),
          ByteBuffer::allocate);
    }
    fs.openFile(file).build().get().close();
  }

  private static void names(FileSystem fs, Path folder, Path file) throws IOException {
    FileStatus status = fs.getFileStatus(file);
    fs.getFileBlockLocations(status, 0, 1);
    fs.listStatus(folder);
    fs.listStatusIterator(folder).hasNext();
    fs.listLocatedStatus(folder).hasNext();
    fs.listFiles(folder, true).hasNext();
    fs.getFileChecksum(file);
  }

  private static void attributes(FileSystem fs, Path folder, Path file) throws IOException {
    fs.setPermission(file, new FsPermission((short) 0600));
    fs.setTimes(file, 1_000, -1);
    fs.setReplication(file, (short) 1);
    fs.setXAttr(file, "user.a", new byte[] {1});
    fs.getXAttr(file, "user.a");
    fs.getAclStatus(file);
    fs.getContentSummary(folder);
    FileSystem behind = ((FilterFileSystem) fs).getRawFileSystem();
    ((DistributedFileSystem) behind).allowSnapshot(folder);
    fs.createSnapshot(folder, "s");
    fs.deleteSnapshot(folder, "s");
    ((DistributedFileSystem) behind).disallowSnapshot(folder);
  }

  private static void concat(FileSystem fs, Path folder) throws IOException {
    Path[] parts = {new Path(folder, "a"), new Path(folder, "b")};
    for (Path part : parts) {
      try (FSDataOutputStream out = fs.create(part)) {
        out.write(new byte[1024]);
      }
    }
    fs.concat(parts[0], new Path[] {parts[1]});
  }

  private static void uploads(FileSystem fs, Path folder) throws Exception {
    Path base = fs.makeQualified(folder); // an uploader takes no others
    Path file = new Path(base, "uploaded");
    try (MultipartUploader uploader = fs.createMultipartUploader(base).build()) {
      UploadHandle upload = uploader.startUpload(file).get();
      Map<Integer, PartHandle> parts = new HashMap<>();
      for (int part = 1; part <= 2; part++) {
        InputStream bytes = new ByteArrayInputStream(new byte[300]);
        parts.put(part, uploader.putPart(upload, part, part == 2, file, bytes, 300).get());
      }
      uploader.complete(upload, file, parts).get();
      uploader.abort(uploader.startUpload(file).get(), file).get();
    }
  }
}
