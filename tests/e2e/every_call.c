/* every_call FOLDER: each call of the C library that is recorded, on files of a folder; then the same
   reads and writes in a thread, in a child, and in a child of its own program. Prints what it read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "in_a_folder.h"

static long total;

#define MUST(call) must((long)(call), __LINE__)

static void *write_and_read(void *name) {
  int fd = MUST(open(in(name), O_CREAT | O_RDWR, 0644));
  for (int i = 0; i < 10; i++) MUST(write(fd, text, 100));
  for (int i = 0; i < 10; i++) __sync_fetch_and_add(&total, MUST(pread(fd, got, 100, i * 100)));
  MUST(close(fd));
  return NULL;
}

static void files(void) {
  struct iovec two[2] = {{text, 300}, {text, 200}}, into[2] = {{got, 100}, {got + 100, 400}};
  struct stat st;
  struct statx stx;
  int fd = MUST(open(in("a"), O_CREAT | O_RDWR | O_TRUNC, 0644));
  MUST(write(fd, text, 1000));
  MUST(pwrite(fd, text, 500, 1000));
  MUST(writev(fd, two, 2));
  MUST(pwritev(fd, two, 2, 2000));
  MUST(pwritev2(fd, two, 2, 2500, 0));
  MUST(lseek(fd, 0, SEEK_SET));
  total += MUST(read(fd, got, 1000));
  total += MUST(read(fd, got, 8000)); /* to the end */
  total += MUST(read(fd, got, 8000)); /* nothing */
  total += MUST(pread(fd, got, 700, 10));
  MUST(lseek(fd, 0, SEEK_SET));
  total += MUST(readv(fd, into, 2));
  total += MUST(preadv(fd, into, 2, 5));
  total += MUST(preadv2(fd, into, 2, 7, 0));
  MUST(fsync(fd));
  MUST(fdatasync(fd));
  MUST(sync_file_range(fd, 0, 100, SYNC_FILE_RANGE_WRITE));
  MUST(ftruncate(fd, 2800));
  MUST(truncate(in("a"), 2900));
  MUST(fallocate(fd, 0, 0, 4096));
  MUST(stat(in("a"), &st));
  MUST(lstat(in("a"), &st));
  MUST(fstat(fd, &st));
  MUST(fstatat(AT_FDCWD, in("a"), &st, 0));
  MUST(statx(AT_FDCWD, in("a"), 0, STATX_SIZE, &stx));
  MUST(access(in("a"), R_OK));
  total += st.st_size + (long)stx.stx_size;
  char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) exit(8);
  mapped[0] = 'x';
  MUST(msync(mapped, 4096, MS_SYNC));
  munmap(mapped, 4096);

  int other = MUST(openat(AT_FDCWD, in("b"), O_CREAT | O_RDWR, 0644)), third = MUST(creat(in("c"), 0644));
  off_t at = 0, to = 0;
  total += MUST(sendfile(other, fd, &at, 600));
  at = 0;
  total += MUST(copy_file_range(fd, &at, third, &to, 800, 0));
  int ends[2];
  MUST(pipe(ends));
  at = 0;
  total += MUST(splice(fd, &at, ends[1], NULL, 400, 0));
  total += MUST(read(ends[0], got, 4000));
  /* a descriptor that becomes another file, and one that is closed twice */
  MUST(dup2(third, other));
  MUST(write(other, text, 50));
  MUST(close(other));
  if (close(other) != -1 || errno != EBADF) exit(7);
  MUST(close(third));
  MUST(close(fd));
  if (open(in("absent"), O_RDONLY) != -1 || errno != ENOENT) exit(6);
  if (read(-1, got, 10) != -1 || errno != EBADF) exit(5);

  MUST(mkdir(in("d"), 0755));
  MUST(rename(in("b"), in("d/b")));
  MUST(unlink(in("d/b")));
  MUST(rmdir(in("d")));
  MUST(mkdirat(AT_FDCWD, in("e"), 0755));
  MUST(unlinkat(AT_FDCWD, in("e"), AT_REMOVEDIR));
  MUST(renameat(AT_FDCWD, in("c"), AT_FDCWD, in("f")));
}

static void streams(void) {
  FILE *out = fopen(in("stream"), "w");
  for (int i = 0; i < 2000; i++) fprintf(out, "line %d\n", i);
  for (int i = 0; i < 9000; i++) putc_unlocked('x', out);
  fflush(out);
  total += fwrite(text, 1, 4000, out);
  fclose(out);
  FILE *back = fopen(in("stream"), "r");
  int number = 0, read;
  while ((read = getc_unlocked(back)) != EOF && read != 'x') total += read == '\n';
  fseek(back, 3, SEEK_SET);
  total += fscanf(back, "%*s %d", &number);
  total += fread(got, 1, 5000, back);
  fclose(back);
  if (fopen(in("absent/too"), "r") != NULL) exit(3);
}

static void sockets(void) {
  int pair[2];
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  struct iovec one = {text, 70};
  struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
  MUST(send(pair[0], text, 60, 0));
  total += MUST(recv(pair[1], got, 100, 0));
  MUST(sendmsg(pair[0], &message, 0));
  one.iov_base = got;
  one.iov_len = 200;
  total += MUST(recvmsg(pair[1], &message, 0));
}

int main(int count, char **words) {
  snprintf(folder, sizeof folder, "%s", words[1]);
  memset(text, 't', sizeof text);
  if (count > 2) { /* the child of its own program */
    write_and_read(words[2]);
    return 3;
  }
  files();
  streams();
  sockets();
  pthread_t thread;
  pthread_create(&thread, NULL, write_and_read, "thread");
  pthread_join(thread, NULL);
  int status;
  pid_t child = fork();
  if (child == 0) {
    write_and_read("child");
    _exit(4);
  }
  waitpid(child, &status, 0);
  total += WEXITSTATUS(status);
  child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", words[0], folder, "program", NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  total += WEXITSTATUS(status);
  printf("%ld\n", total);
  return 5;
}
