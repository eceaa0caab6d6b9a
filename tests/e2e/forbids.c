// Writes to FILE, then forbids itself all system calls but read, write and exit: forbids FILE HOW,
// by the functions of the C library, or by the number of the call.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHECK(condition) if (!(condition)) exit(__LINE__)

static char data[100];

static void *writes(void *fd) {
  for (int i = 0; i < 5; i++) CHECK(write(*(int *)fd, data, sizeof data) == sizeof data);
  return NULL;
}

int main(int count, char **words) {
  int by_number = count > 2 && strcmp(words[2], "number") == 0;
  int fd = open(words[1], O_CREAT | O_WRONLY | O_TRUNC, 0644);
  pthread_t other;
  CHECK(fd >= 0 && pthread_create(&other, NULL, writes, &fd) == 0);
  writes(&fd);
  CHECK(pthread_join(other, NULL) == 0 && close(fd) == 0);
  if (by_number) {
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
  } else {
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
  }
  for (int i = 0; i < 200; i++) {
    if (write(1, "x", 1) != 1) break;
  }
  syscall(SYS_exit, 0);
}
