package io.iostrata.jobs.requests;

import io.iostrata.jobs.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * {@code requests prepare|run|saturation NAME=VALUE…}: an open-loop generator of requests to HDFS.
 * {@code prepare} makes its files, the others send requests and print what became of them as one
 * JSON object. The settings are those of {@link Settings}.
 */
public final class Requests {
  /** A trial keeps up when this share of its requests completed before its end. */
  private static final double KEPT = 0.95;

  private final Settings settings;
  private final Client client;

  private Requests(Settings settings, Client client) {
    this.settings = settings;
    this.client = client;
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    try {
      List<String> words = Arrays.asList(arguments);
      Settings settings = new Settings(words.subList(1, words.size()));
      FileSystem files = new Path(settings.folder).getFileSystem(new Configuration());
      Requests requests = new Requests(settings, new Client(settings, files));
      Map<String, Object> said = requests.asked(words.get(0));
      System.out.println(Json.text(said));
    } catch (IllegalArgumentException e) {
      System.err.println("requests: " + e.getMessage());
      System.exit(2);
    }
  }

  private Map<String, Object> asked(String mode) throws IOException, InterruptedException {
    switch (mode) {
      case "prepare":
        client.prepare();
        client.restock(stock());
        return new LinkedHashMap<>();
      case "run":
        client.stocked(stock());
        warmUp();
        return said(trial(settings.rate, settings.duration));
      case "saturation":
        client.stocked(stock());
        warmUp();
        return saturation();
      default:
        throw new IllegalArgumentException("no mode " + mode);
    }
  }

  /** For what is measured and for what warms up, at the asked rate. */
  private int stock() throws IOException {
    return stock(settings.rate, settings.duration, settings.seed)
        + stock(settings.rate, settings.warmup, warmUpSeed());
  }

  /** What is measured has not just been asked for. */
  private long warmUpSeed() {
    return ~settings.seed;
  }

  private int stock(double rate, double seconds, long seed) throws IOException {
    double sessions = Trial.planned(settings, rate, seconds, seed);
    return CreatedFiles.stock(settings.mix, sessions * settings.session, settings.threads);
  }

  private Measured trial(double rate, double seconds) throws IOException, InterruptedException {
    return trial(rate, seconds, settings.seed);
  }

  private Measured trial(double rate, double seconds, long seed)
      throws IOException, InterruptedException {
    return new Trial(settings, client, rate, seconds, seed).run();
  }

  /** Compiles code and opens connections; not counted. */
  private void warmUp() throws IOException, InterruptedException {
    trial(settings.rate, settings.warmup, warmUpSeed());
  }

  private static Map<String, Object> said(Measured measured) {
    Map<String, Object> said = measured.asMap();
    said.put("operations", measured.byOperation());
    said.put("errors", measured.errors());
    return said;
  }

  private Map<String, Object> saturation() throws IOException, InterruptedException {
    List<Map<String, Object>> trials = new ArrayList<>();
    double found =
        Saturation.find(
            settings.rate,
            settings.most,
            rate -> {
              client.restock(stock(rate, settings.trial, settings.seed));
              Measured measured = trial(rate, settings.trial);
              boolean holds = measured.kept() >= KEPT && measured.latency(0.99) <= settings.slowest;
              Map<String, Object> said = measured.asMap();
              said.put("holds", holds);
              trials.add(said);
              return holds;
            });
    Map<String, Object> said = new LinkedHashMap<>();
    said.put("saturation_per_s", found);
    said.put("trials", trials);
    return said;
  }
}
