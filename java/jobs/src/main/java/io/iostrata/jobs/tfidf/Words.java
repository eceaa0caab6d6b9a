package io.iostrata.jobs.tfidf;

import java.util.Locale;
import java.util.SplittableRandom;

/** Words that sites share, and words that are in one request only, as those of the data set. */
final class Words {
  private static final int SHARED = 4000;
  private static final int NAMES = 32;
  // The others are unique, and most of the model: 68 MB of 50,116 requests.
  static final double SHARED_VALUES = 0.38;
  private static final String CONSONANTS = "bcdfghklmnprstvz";
  private static final String VOWELS = "aeiou";
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

  private final SplittableRandom random;

  Words(SplittableRandom random) {
    this.random = random;
  }

  int below(int bound) {
    return random.nextInt(bound);
  }

  boolean chance(double share) {
    return random.nextDouble() < share;
  }

  String of(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  /** One of 4000 words; the first of them are the most frequent. */
  String shared() {
    double at = random.nextDouble();
    return word((int) (SHARED * at * at * at));
  }

  /** One of the few names that parameters and headers have everywhere. */
  String name() {
    return word(SHARED + random.nextInt(NAMES));
  }

  private static String word(int rank) {
    StringBuilder word = new StringBuilder();
    // a number in base 80, a syllable for each digit
    int left = rank + 80;
    do {
      word.append(CONSONANTS.charAt(left % 80 / 5)).append(VOWELS.charAt(left % 5));
      left /= 80;
    } while (left > 0);
    return word.toString();
  }

  /** Letters and digits that hardly come twice. */
  String unique(int length) {
    StringBuilder word = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      word.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    return word.toString();
  }

  /** Names and values as a form sends them, of {@code length} characters. */
  String form(int length) {
    StringBuilder pairs = new StringBuilder(length + 32);
    while (pairs.length() < length) {
      pairs.append(pairs.length() == 0 ? "" : "&").append(name()).append('=');
      pairs.append(chance(SHARED_VALUES) ? shared() : unique(6 + below(8)));
    }
    return pairs.substring(0, Math.max(0, length));
  }

  String address() {
    return (1 + below(254)) + "." + below(256) + "." + below(256) + "." + below(256);
  }

  String date() {
    String day = of("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun");
    String month = of("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Sep", "Oct", "Nov", "Dec");
    return String.format(
        Locale.ROOT,
        "%s, %02d %s 2006 %02d:%02d:%02d GMT",
        day,
        1 + below(28),
        month,
        below(24),
        below(60),
        below(60));
  }
}
