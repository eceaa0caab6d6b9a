package io.iostrata.tfs;

import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;

/** S3Proxy, an S3 server that keeps objects in memory, in a process of its own. */
final class S3Server implements AutoCloseable {
  private static final int START_SECONDS = 60;

  private static final String ANONYMOUS =
      "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider";

  private final Process process;
  private final URI endpoint;

  private S3Server(Process process, URI endpoint) {
    this.process = process;
    this.endpoint = endpoint;
  }

  /** On a free port of loopback, with an empty bucket. */
  static S3Server start(String bucket) throws Exception {
    Path folder = Files.createDirectories(Path.of("target/s3"));
    URI endpoint = URI.create("http://127.0.0.1:" + freePort());
    Path settings = folder.resolve("s3proxy.properties");
    Files.write(
        settings,
        List.of(
            "s3proxy.authorization=none",
            "s3proxy.endpoint=" + endpoint,
            "jclouds.provider=transient",
            "jclouds.identity=none",
            "jclouds.credential=none"));
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xmx512m",
                "-DLOG_LEVEL=warn",
                "-cp",
                Path.of("../s3/target/s3proxy").toAbsolutePath() + File.separator + "*",
                "org.gaul.s3proxy.Main",
                "--properties",
                settings.toString())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("s3proxy.log").toFile())
            .start();
    S3Server server = new S3Server(process, endpoint);
    server.make(bucket, folder.resolve("s3proxy.log"));
    return server;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** As soon as the server answers. */
  private void make(String bucket, Path log) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (System.nanoTime() < end && process.isAlive()) {
      try {
        URL url = endpoint.resolve("/" + bucket).toURL();
        HttpURLConnection asked = (HttpURLConnection) url.openConnection();
        asked.setRequestMethod("PUT");
        if (asked.getResponseCode() == HttpURLConnection.HTTP_OK) {
          return;
        }
      } catch (IOException e) {
        Thread.sleep(50);
      }
    }
    close();
    throw new IOException("no S3Proxy: " + Files.readString(log, StandardCharsets.UTF_8));
  }

  void addTo(Configuration conf) {
    conf.set("fs.s3a.endpoint", endpoint.toString());
    conf.set("fs.s3a.endpoint.region", "us-east-1");
    conf.set("fs.s3a.path.style.access", "true");
    conf.set("fs.s3a.connection.ssl.enabled", "false");
    conf.set("fs.s3a.multiobjectdelete.enable", "false"); // S3Proxy knows no such checksum
    conf.set("fs.s3a.impl.disable.cache", "true"); // another server each time
    conf.set("fs.tfs.impl.disable.cache", "true");
    conf.set("fs.s3a.aws.credentials.provider", ANONYMOUS);
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
  }
}
