package io.iostrata.jobs.tfidf;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Look-alikes of the requests of the ECML/PKDD 2007 Discovery Challenge, in its text form. Each is
 * a function of seed and index alone: threads and files make no difference.
 */
final class RequestGenerator {
  /** Mean size in bytes, with its frame: 7.2 GB by 64 times 50,116 requests. */
  static final int MEAN_SIZE = 2245;

  static final int LEAST_HEADERS = 30;
  static final int MOST_HEADERS = 45;
  // A header more makes a request longer by this many bytes, beside what is drawn.
  private static final int OF_HEADER = 30;
  private static final int SPREAD = 250;
  private static final double LOOKS_LIKE_ATTACK = 0.1; // of the valid ones
  private static final double POSTS = 0.3;

  private final Population population;
  private final long seed;

  RequestGenerator(Population population, long seed) {
    this.population = population;
    this.seed = new SplittableRandom(seed).nextLong();
  }

  /** The request of this index, from 0, with the frame around it. */
  String request(long index) {
    RequestClass of = population.classOf(index);
    Words words = new Words(new SplittableRandom(seed + index));
    Payloads payloads = new Payloads(words);
    String payload = "";
    if (of != RequestClass.VALID) {
      payload = payloads.attack(of);
    } else if (words.chance(LOOKS_LIKE_ATTACK)) {
      payload = payloads.harmless();
    }
    String opening = "Start - Id: " + index + "\nclass: " + of.label + "\n";
    String ending = "\nEnd - Id: " + index + "\n\n";
    int headers = LEAST_HEADERS + words.below(MOST_HEADERS - LEAST_HEADERS + 1);
    int size = MEAN_SIZE - (int) (OF_HEADER * ((LEAST_HEADERS + MOST_HEADERS) / 2.0 - headers));
    size += words.below(2 * SPREAD + 1) - SPREAD - opening.length() - ending.length();
    return opening + new Draft(words, payload, headers).text(size) + ending;
  }

  /** One request being put together: where its payload goes is drawn. */
  private static final class Draft {
    private final Words words;
    private final boolean post;
    private final List<String> headers = new ArrayList<>();
    private String path;
    private String query;
    private String cookie;
    private String body = "";

    Draft(Words words, String payload, int count) {
      this.words = words;
      post = words.chance(POSTS);
      path = "/" + words.shared() + "/" + words.unique(6) + "/" + words.shared();
      path += words.of(".php", ".html", ".asp", ".jsp", "");
      query = words.form(20 + words.below(40));
      cookie = words.shared() + "=" + words.unique(16);
      int own = count - (post ? 3 : 1); // beside the cookie, and two of a body
      place(payload);
      new Headers(words).add(own - headers.size(), headers);
    }

    private void place(String payload) {
      if (payload.isEmpty()) {
        return;
      }
      switch (words.below(post ? 5 : 4)) {
        case 0:
          path += "/" + payload.replace(' ', '+');
          break;
        case 1:
          query += "&" + words.shared() + "=" + payload.replace(' ', '+');
          break;
        case 2:
          cookie += "; " + words.shared() + "=" + payload;
          break;
        case 3:
          headers.add(words.of("Referer: http://", "X-Forwarded-Host: ", "From: ") + payload);
          break;
        default:
          body = words.shared() + "=" + payload.replace(' ', '+') + "&";
      }
    }

    /** Of about this many characters: the rest is a body, or more of the cookie. */
    String text(int size) {
      StringBuilder text = new StringBuilder(size + 64);
      text.append(post ? "POST " : "GET ").append(path).append('?').append(query);
      text.append(" HTTP/1.").append(words.below(2)).append('\n');
      for (String header : headers) {
        text.append(header).append('\n');
      }
      text.append("Cookie: ").append(cookie);
      if (post) {
        String type = "\nContent-Type: application/x-www-form-urlencoded\nContent-Length: ";
        // three digits of the length, and the empty line
        body += words.form(size - text.length() - type.length() - 5 - body.length());
        text.append(type).append(body.length()).append("\n\n").append(body);
      } else {
        text.append("; ").append(words.form(size - text.length() - 1)).append('\n');
      }
      return text.toString();
    }
  }
}
