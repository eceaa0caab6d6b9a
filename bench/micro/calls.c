/* calls TIMES: reads of 64 bytes from a file in the page cache; prints their CPU time in ns as JSON. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **words) {
  long times = atol(words[1]);
  char bytes[64];
  int fd = open(words[0], O_RDONLY);
  for (long i = 0; i < times / 10; i++) (void)!pread(fd, bytes, sizeof bytes, 0);
  double begin = now();
  for (long i = 0; i < times; i++) (void)!pread(fd, bytes, sizeof bytes, 0);
  printf("{\"ns\": %.1f}\n", (now() - begin) / times);
  return count - 2;
}
