package io.iostrata.jobs.requests;

/** What a request asks for; what happens then stands in {@link Client}. */
enum Operation {
  READ,
  STAT,
  LIST,
  CREATE,
  APPEND,
  RENAME,
  DELETE;

  /** As it is named in settings and results. */
  String text() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
