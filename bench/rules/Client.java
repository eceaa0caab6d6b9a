import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.GenericOptionsParser;

/**
 * Programs that do one thing wrong, each a cause that a rule must find: {@code Client [-D …] CAUSE
 * TIMES SEED [LOCAL_DIRECTORY]}. {@code healthy-*} do it right, {@code mended-CAUSE} what the advice
 * says instead (Mended.java).
 */
public final class Client {
    static final int KB = 1 << 10;
    static final int MB = 1 << 20;
    static final int EACH = 50; // of file systems, one is asked for something

    interface Cause {
        void run(Client client) throws Exception;
    }

    private static final Map<String, Cause> CAUSES = new TreeMap<>();

    static {
        CAUSES.put("healthy-write", client -> client.write(client.path("data"), (long) client.times * MB, MB));
        CAUSES.put("input", client -> client.write(client.path("input"), (long) client.times * MB, MB));
        CAUSES.put("healthy-read", client -> client.readAll(client.path("input"), MB));
        CAUSES.put("small-reads", Client::smallReads);
        CAUSES.put("small-writes", Client::smallWrites);
        CAUSES.put("bytewise", Client::bytewise);
        CAUSES.put("many-small-outputs", Client::smallOutputs);
        CAUSES.put("fs-not-cached", Client::newInstances);
        CAUSES.put("frequent-flush", client -> client.flush(false));
        CAUSES.put("datanode-sync", client -> client.flush(true));
        CAUSES.put("local-sync", Client::force);
        CAUSES.put("namenode-edit-log", Client::mkdirs);
        CAUSES.put("metadata-storm", client -> client.stat(client.times, client.path("input")));
        CAUSES.put("rpc-queueing", Client::crowd);
        CAUSES.put("tree", Client::tree);
        CAUSES.put("namenode-lock", Client::lock);
        CAUSES.put("open-churn", Client::openChurn);
        CAUSES.put("read-amplification", Client::seeks);
        CAUSES.put("random-reads", Client::positions);
        CAUSES.put("rereading", Client::rereading);
        CAUSES.put("small-blocks", client -> client.write(client.path("blocks"), (long) client.times * MB, MB));
        CAUSES.put("gc-bound", Client::garbage);
        CAUSES.put("cpu-bound", Client::compute);
        Mended.register(CAUSES);
    }

    final Configuration configuration;
    final FileSystem hdfs;
    final int times;
    final Random random;
    final File local;

    private Client(Configuration configuration, int times, long seed, File local)
            throws IOException {
        this.configuration = configuration;
        this.hdfs = FileSystem.get(configuration);
        this.times = times;
        this.random = new Random(seed);
        this.local = local;
    }

    public static void main(String[] arguments) throws Exception {
        Configuration configuration = new Configuration();
        String[] rest = new GenericOptionsParser(configuration, arguments).getRemainingArgs();
        Cause cause = CAUSES.get(rest[0]);
        if (cause == null) {
            throw new IllegalArgumentException("causes: " + CAUSES.keySet());
        }
        File local = new File(rest.length > 3 ? rest[3] : ".");
        int times = Integer.parseInt(rest[1]);
        cause.run(new Client(configuration, times, Long.parseLong(rest[2]), local));
    }

    Path path(String name) {
        return new Path("/causes/" + name);
    }

    byte[] bytes(int size) {
        byte[] made = new byte[size];
        random.nextBytes(made);
        return made;
    }

    private void write(Path path, long size, int request) throws IOException {
        byte[] buffer = bytes(request);
        try (FSDataOutputStream out = hdfs.create(path, true)) {
            for (long left = size; left > 0; left -= request) {
                out.write(buffer, 0, (int) Math.min(left, request));
            }
        }
    }

    private void readAll(Path path, int request) throws IOException {
        byte[] buffer = new byte[request];
        try (FSDataInputStream in = hdfs.open(path)) {
            while (in.read(buffer) >= 0) {}
        }
    }

    /** Positional reads of 1 KiB, one after the other: each asks a DataNode anew. */
    private void smallReads() throws IOException {
        byte[] buffer = new byte[KB];
        try (FSDataInputStream in = hdfs.open(path("input"))) {
            for (int i = 0; i < times; i++) {
                in.readFully((long) i * KB, buffer);
            }
        }
    }

    private void smallWrites() throws IOException {
        byte[] record = bytes(64);
        try (FileOutputStream out = new FileOutputStream(new File(local, "records"))) {
            for (int i = 0; i < times; i++) {
                out.write(record);
            }
        }
    }

    /** A local file of so many bytes. */
    File made() throws IOException {
        File file = new File(local, "bytes");
        try (FileOutputStream out = new FileOutputStream(file)) {
            out.write(bytes(times));
        }
        return file;
    }

    private void bytewise() throws IOException {
        File file = made();
        try (InputStream in = new FileInputStream(file)) {
            while (in.read() >= 0) {}
        }
    }

    private void smallOutputs() throws IOException {
        for (int i = 0; i < times; i++) {
            write(path("small/" + i), 4 * KB, 4 * KB);
        }
    }

    private void newInstances() throws IOException {
        for (int i = 0; i < times; i++) {
            try (FileSystem own = FileSystem.newInstance(configuration)) {
                if (i % EACH == 0) {
                    own.exists(path("input"));
                }
            }
        }
    }

    private void flush(boolean toDisk) throws IOException {
        byte[] record = bytes(100);
        try (FSDataOutputStream out = hdfs.create(path("log"), true)) {
            for (int i = 0; i < times; i++) {
                out.write(record);
                if (toDisk) {
                    out.hsync();
                } else {
                    out.hflush();
                }
            }
        }
    }

    private void force() throws IOException {
        ByteBuffer record = ByteBuffer.wrap(bytes(100));
        try (FileChannel out =
                FileChannel.open(
                        new File(local, "wal").toPath(),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            for (int i = 0; i < times; i++) {
                record.rewind();
                out.write(record);
                out.force(false);
            }
        }
    }

    private void mkdirs() throws IOException {
        for (int i = 0; i < times; i++) {
            hdfs.mkdirs(path("made/" + i));
        }
    }

    private void stat(int calls, Path path) throws IOException {
        for (int i = 0; i < calls; i++) {
            hdfs.getFileStatus(path);
        }
    }

    /** Threads that ask all at once, of a NameNode with one handler; a list of many names is work. */
    private void crowd() throws Exception {
        for (int i = 0; i < 400; i++) {
            hdfs.createNewFile(path("crowd/" + i));
        }
        inThreads(24, number -> list(times / 24));
    }

    private void list(int calls) throws IOException {
        for (int i = 0; i < calls; i++) {
            hdfs.listStatus(path("crowd"));
        }
    }

    /** A tree whose names are counted, which holds the lock, while others change the name space. */
    private void tree() throws Exception {
        inThreads(
                16,
                number -> {
                    for (int i = number; i < times * 10; i += 16) {
                        hdfs.mkdirs(path("tree/" + i % 100 + "/" + i));
                    }
                });
    }

    private void lock() throws Exception {
        AtomicInteger changing = new AtomicInteger(2);
        inThreads(
                10,
                number -> {
                    if (number < 2) {
                        for (int i = 0; i < times / 2; i++) {
                            hdfs.mkdirs(path("changed/" + number + "-" + i));
                        }
                        changing.decrementAndGet();
                    }
                    while (changing.get() > 0) {
                        hdfs.getContentSummary(path("tree"));
                    }
                });
    }

    private interface Work {
        void run(int number) throws Exception;
    }

    private static void inThreads(int threads, Work work) throws Exception {
        List<Thread> running = new ArrayList<>();
        List<Exception> failed = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            Thread thread =
                    new Thread(
                            () -> {
                                try {
                                    work.run(number);
                                } catch (Exception e) {
                                    synchronized (failed) {
                                        failed.add(e);
                                    }
                                }
                            });
            thread.start();
            running.add(thread);
        }
        for (Thread thread : running) {
            thread.join();
        }
        if (!failed.isEmpty()) {
            throw failed.get(0);
        }
    }

    private void openChurn() throws IOException {
        byte[] buffer = new byte[16 * KB];
        for (int i = 0; i < times; i++) {
            try (FSDataInputStream in = hdfs.open(path("input"))) {
                in.readFully(buffer);
            }
        }
    }

    private void seeks() throws IOException {
        byte[] buffer = new byte[16 * KB];
        long size = hdfs.getFileStatus(path("input")).getLen();
        try (FSDataInputStream in = hdfs.open(path("input"))) {
            for (int i = 0; i < times; i++) {
                in.seek((long) (random.nextDouble() * (size - buffer.length)));
                in.readFully(buffer);
            }
        }
    }

    /** Positional reads, which bring no more than they ask for. */
    private void positions() throws IOException {
        byte[] buffer = new byte[8 * KB];
        long size = hdfs.getFileStatus(path("input")).getLen();
        try (FSDataInputStream in = hdfs.open(path("input"))) {
            for (int i = 0; i < times; i++) {
                in.readFully((long) (random.nextDouble() * (size - buffer.length)), buffer);
            }
        }
    }

    private void rereading() throws IOException {
        for (int i = 0; i < times; i++) {
            readAll(path("input"), MB);
        }
    }

    /** A heap that is nearly full of what lives, while more is made than is kept. */
    private void garbage() throws IOException {
        ArrayDeque<byte[]> kept = new ArrayDeque<>();
        long room = 28L * MB;
        long held = 0;
        byte[] buffer = new byte[MB];
        for (int i = 0; i < times; i++) {
            try (FSDataInputStream in = hdfs.open(path("input"))) {
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    for (int at = 0; at < read; at += 64) {
                        kept.add(new byte[64 + buffer[at] % 32 + 32]);
                        held += 96 + 48;
                        while (held > room) {
                            kept.poll();
                            held -= 96 + 48;
                        }
                    }
                }
            }
        }
    }

    private void compute() throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-512");
        byte[] buffer = new byte[MB];
        try (FSDataInputStream in = hdfs.open(path("input"))) {
            int read = in.read(buffer);
            for (int i = 0; i < times; i++) {
                digest.update(buffer, 0, read);
            }
        }
        System.out.println(digest.digest()[0]);
    }
}
