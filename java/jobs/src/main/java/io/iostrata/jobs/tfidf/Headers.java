package io.iostrata.jobs.tfidf;

import java.util.List;

/**
 * Headers of requests: the usual ones, then such as nobody knows, which the data set is full of.
 */
final class Headers {
  private static final String[] BROWSERS = {
    "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)",
    "Mozilla/5.0 (Windows; U; rv:1.8.1) Gecko/20061010 Firefox/2.0",
    "Mozilla/5.0 (X11; U; Linux i686; rv:1.8) Gecko/20051111",
    "Opera/9.02 (Windows NT 5.1; U; en)",
    "Wget/1.10.2"
  };
  private static final int USUAL = 16;

  private final Words words;

  Headers(Words words) {
    this.words = words;
  }

  /** Adds so many; {@code Host} comes first. */
  void add(int count, List<String> to) {
    for (int i = 0; i < count; i++) {
      to.add(i < USUAL ? usual(i) : unusual());
    }
  }

  private String usual(int which) {
    switch (which) {
      case 0:
        return "Host: www." + words.shared() + words.of(".com", ".net", ".org");
      case 1:
        return "User-Agent: " + words.of(BROWSERS);
      case 2:
        return "Accept: " + words.of("*/*", "text/html", "text/xml, image/png;q=0.5");
      case 3:
        return "Accept-Charset: " + words.of("utf-8", "iso-8859-1;q=0.7", "*");
      case 4:
        return "Accept-Encoding: " + words.of("gzip, deflate", "identity", "compress;q=0.5");
      case 5:
        return "Accept-Language: " + words.of("en", "fr;q=0.8", "de", "es;q=0.3");
      case 6:
        return "Cache-Control: " + words.of("no-cache", "max-age=" + words.below(1000));
      case 7:
        return "Connection: " + words.of("close", "keep-alive");
      case 8:
        return "Client-ip: " + words.address();
      case 9:
        return "Via: 1.1 " + words.shared() + "." + words.unique(6);
      case 10:
        return "X-Forwarded-For: " + words.address();
      case 11:
        return "If-None-Match: \"" + words.unique(12) + '"';
      case 12:
        return "If-Modified-Since: " + words.date();
      case 13:
        return "Date: " + words.date();
      case 14:
        return "Max-Forwards: " + words.below(100);
      default:
        return "Authorization: Basic " + words.unique(14);
    }
  }

  private String unusual() {
    StringBuilder header = new StringBuilder(words.chance(0.5) ? "X-" : "");
    header.append(words.name()).append(": ");
    int values = 1 + words.below(3);
    for (int i = 0; i < values; i++) {
      header.append(i == 0 ? "" : words.of(" ", ", ", "/", ";"));
      header.append(
          words.chance(Words.SHARED_VALUES) ? words.shared() : words.unique(5 + words.below(8)));
    }
    return header.toString();
  }
}
