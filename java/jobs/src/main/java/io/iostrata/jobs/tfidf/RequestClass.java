package io.iostrata.jobs.tfidf;

/** Valid requests and the seven kinds of attacks of the ECML/PKDD 2007 Discovery Challenge. */
enum RequestClass {
  VALID("Valid"),
  XSS("XSS"),
  SQL_INJECTION("SqlInjection"),
  LDAP_INJECTION("LdapInjection"),
  XPATH_INJECTION("XPathInjection"),
  PATH_TRANSVERSAL("PathTransversal"), // as the data set spells it
  OS_COMMANDING("OsCommanding"),
  SSI("SSI");

  static final int COUNT = values().length;
  private static final RequestClass[] ALL = values();

  final String label;

  RequestClass(String label) {
    this.label = label;
  }

  static RequestClass at(int ordinal) {
    return ALL[ordinal];
  }

  /** Throws IllegalArgumentException where no class is called so. */
  static RequestClass labelled(String label) {
    for (RequestClass one : ALL) {
      if (one.label.equals(label)) {
        return one;
      }
    }
    throw new IllegalArgumentException("no class of requests: " + label);
  }
}
