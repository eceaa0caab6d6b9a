package io.iostrata.load;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/** A sample as words say it: OPERATION ACCESS SIZE REQUEST CLIENTS SECONDS COPIES. */
final class Order {
  private static final double NANOS = 1e9;

  final Point point;
  final int clients;

  /** ns that it may take. */
  final long most;

  private final String text;

  private Order(String text, Point point, int clients, long most) {
    this.text = text;
    this.point = point;
    this.clients = clients;
    this.most = most;
  }

  static Order of(String... words) {
    boolean reads = words[0].equals("read");
    long size = Long.parseLong(words[2]);
    Point point =
        new Point(reads, words[1], size, Integer.parseInt(words[3]), Integer.parseInt(words[6]));
    long most = (long) (Double.parseDouble(words[5]) * NANOS);
    return new Order(String.join(" ", words), point, Integer.parseInt(words[4]), most);
  }

  /** {@code first}: number of the first of its clients. */
  Sample sample(Configuration configuration, Path folder, int first) {
    return new Sample(configuration, folder, point, clients, first);
  }

  /** The words. */
  @Override
  public String toString() {
    return text;
  }
}
