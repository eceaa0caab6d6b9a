import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;

/** What the programs of {@link Client} do once the advice of the rule is followed. */
final class Mended {
    /** Records until they are flushed, synced or forced together. */
    private static final int TOGETHER = 100;

    private Mended() {}

    static void register(Map<String, Client.Cause> causes) {
        causes.put("mended-small-reads", Mended::smallReads);
        causes.put("mended-small-writes", Mended::smallWrites);
        causes.put("mended-bytewise", Mended::bytewise);
        causes.put("mended-fs-not-cached", Mended::oneInstance);
        causes.put("mended-frequent-flush", client -> flush(client, false));
        causes.put("mended-datanode-sync", client -> flush(client, true));
        causes.put("mended-local-sync", Mended::force);
        causes.put("mended-metadata-storm", Mended::list);
        causes.put("mended-open-churn", Mended::openOnce);
        causes.put("mended-read-amplification", Mended::positional);
        causes.put("mended-rereading", Mended::keep);
    }

    private static void smallReads(Client client) throws IOException {
        byte[] block = new byte[Client.MB];
        byte[] record = new byte[Client.KB];
        try (FSDataInputStream in = client.hdfs.open(client.path("input"))) {
            for (int i = 0; i < client.times; i++) {
                int at = i * Client.KB % block.length;
                if (at == 0) {
                    in.readFully((long) i * Client.KB, block);
                }
                System.arraycopy(block, at, record, 0, record.length);
            }
        }
    }

    private static void smallWrites(Client client) throws IOException {
        byte[] record = client.bytes(64);
        File file = new File(client.local, "records");
        try (OutputStream out = new BufferedOutputStream(new FileOutputStream(file), 64 << 10)) {
            for (int i = 0; i < client.times; i++) {
                out.write(record);
            }
        }
    }

    private static void bytewise(Client client) throws IOException {
        try (InputStream in = new BufferedInputStream(new FileInputStream(client.made()), 64 << 10)) {
            while (in.read() >= 0) {}
        }
    }

    /** Not closed: it belongs to all who get it. */
    private static void oneInstance(Client client) throws IOException {
        for (int i = 0; i < client.times; i++) {
            FileSystem one = FileSystem.get(client.configuration);
            if (i % Client.EACH == 0) {
                one.exists(client.path("input"));
            }
        }
    }

    private static void flush(Client client, boolean toDisk) throws IOException {
        byte[] record = client.bytes(100);
        try (FSDataOutputStream out = client.hdfs.create(client.path("log"), true)) {
            for (int i = 1; i <= client.times; i++) {
                out.write(record);
                if (i % TOGETHER == 0) {
                    if (toDisk) {
                        out.hsync();
                    } else {
                        out.hflush();
                    }
                }
            }
        }
    }

    private static void force(Client client) throws IOException {
        ByteBuffer record = ByteBuffer.wrap(client.bytes(100));
        try (FileChannel out =
                FileChannel.open(
                        new File(client.local, "wal").toPath(),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            for (int i = 1; i <= client.times; i++) {
                record.rewind();
                out.write(record);
                if (i % TOGETHER == 0) {
                    out.force(false);
                }
            }
        }
    }

    private static void list(Client client) throws IOException {
        FileStatus[] known = client.hdfs.listStatus(client.path("input").getParent());
        for (int i = 0; i < client.times; i++) {
            known[i % known.length].getLen();
        }
    }

    private static void openOnce(Client client) throws IOException {
        byte[] buffer = new byte[16 * Client.KB];
        try (FSDataInputStream in = client.hdfs.open(client.path("input"))) {
            for (int i = 0; i < client.times; i++) {
                in.readFully(0, buffer);
            }
        }
    }

    private static void positional(Client client) throws IOException {
        byte[] buffer = new byte[16 * Client.KB];
        long size = client.hdfs.getFileStatus(client.path("input")).getLen();
        try (FSDataInputStream in = client.hdfs.open(client.path("input"))) {
            for (int i = 0; i < client.times; i++) {
                long at = (long) (client.random.nextDouble() * (size - buffer.length));
                in.readFully(at, buffer);
            }
        }
    }

    /** Reads once and keeps it; then goes over what it kept, as often. */
    private static void keep(Client client) throws IOException {
        long size = client.hdfs.getFileStatus(client.path("input")).getLen();
        byte[] kept = new byte[(int) size];
        try (FSDataInputStream in = client.hdfs.open(client.path("input"))) {
            in.readFully(0, kept);
        }
        byte[] buffer = new byte[Client.MB];
        for (int i = 1; i < client.times; i++) {
            for (int at = 0; at < kept.length; at += buffer.length) {
                System.arraycopy(kept, at, buffer, 0, Math.min(buffer.length, kept.length - at));
            }
        }
    }
}
