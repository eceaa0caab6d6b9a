/* What programs share that make calls on files of a folder; they have included what it needs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[2048], text[4096], got[8192];

static char *in(const char *name) {
  static char paths[4][2600];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, 2600, "%s/%s", folder, name);
  return path;
}

/* A call that must succeed; what it returns is added to what is printed. */
static long must(long returned, int line) {
  if (returned < 0) {
    fprintf(stderr, "line %d: %s\n", line, strerror(errno));
    exit(9);
  }
  return returned;
}
