/* by_number FOLDER: calls of the kernel by their numbers, on files of a folder. Prints what it read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "in_a_folder.h"

#define MUST(...) must(syscall(__VA_ARGS__), __LINE__)

int main(int count, char **words) {
  (void)count;
  long total = 0;
  struct iovec two[2] = {{text, 300}, {text, 200}}, into[2] = {{got, 100}, {got + 100, 400}};
  struct stat st;
  struct statx stx;
  snprintf(folder, sizeof folder, "%s", words[1]);
  memset(text, 't', sizeof text);
  int fd = MUST(SYS_openat, AT_FDCWD, in("a"), O_CREAT | O_RDWR | O_TRUNC, 0644);
  MUST(SYS_write, fd, text, 1000);
  MUST(SYS_pwrite64, fd, text, 500, 1000);
  MUST(SYS_writev, fd, two, 2);
  MUST(SYS_pwritev, fd, two, 2, 2000, 0);
  MUST(SYS_pwritev2, fd, two, 2, 2500, 0, 0);
  MUST(SYS_lseek, fd, 10, SEEK_SET);
  total += MUST(SYS_read, fd, got, 1000);
  total += MUST(SYS_pread64, fd, got, 700, 10);
  total += MUST(SYS_readv, fd, into, 2);
  total += MUST(SYS_preadv, fd, into, 2, 5, 0);
  total += MUST(SYS_preadv2, fd, into, 2, 7, 0, 0);
  MUST(SYS_fsync, fd);
  MUST(SYS_fdatasync, fd);
  MUST(SYS_ftruncate, fd, 2800);
  MUST(SYS_truncate, in("a"), 2900);
  MUST(SYS_fallocate, fd, 0, 0L, 4096L);
  MUST(SYS_fstat, fd, &st);
  MUST(SYS_newfstatat, AT_FDCWD, in("a"), &st, 0);
  MUST(SYS_statx, AT_FDCWD, in("a"), 0, STATX_SIZE, &stx);
  MUST(SYS_faccessat, AT_FDCWD, in("a"), R_OK);
  int other = MUST(SYS_openat, AT_FDCWD, in("b"), O_CREAT | O_RDWR, 0644);
  off_t at = 0, to = 0;
  total += MUST(SYS_sendfile, other, fd, &at, 600);
  at = 0;
  total += MUST(SYS_copy_file_range, fd, &at, other, &to, 800, 0);
  int again = MUST(SYS_dup, other);
  MUST(SYS_write, again, text, 50);
  MUST(SYS_close, again);
  MUST(SYS_close, other);
  MUST(SYS_close, fd);
  if (syscall(SYS_close, fd) != -1 || errno != EBADF) exit(7);
  if (syscall(SYS_openat, AT_FDCWD, in("absent"), O_RDONLY) != -1 || errno != ENOENT) exit(6);
  MUST(SYS_mkdirat, AT_FDCWD, in("d"), 0755);
  MUST(SYS_renameat2, AT_FDCWD, in("b"), AT_FDCWD, in("d/b"), 0);
  MUST(SYS_unlinkat, AT_FDCWD, in("d/b"), 0);
  MUST(SYS_unlinkat, AT_FDCWD, in("d"), AT_REMOVEDIR);
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) exit(5);
  MUST(SYS_sendto, pair[0], text, 60, 0, NULL, 0);
  total += MUST(SYS_recvfrom, pair[1], got, 100, 0, NULL, NULL);
  printf("%ld\n", total);
  fflush(stdout);
  MUST(SYS_exit_group, 5);
}
