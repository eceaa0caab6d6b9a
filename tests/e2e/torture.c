/* torture FOLDER: what programs rarely do, and may: closed descriptors, signals in the middle of calls,
   threads that are cancelled or have hardly a stack, children of all kinds. Prints what came of each. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char folder[2048];
static volatile int handled;
static sigjmp_buf out;

static char *in(const char *name) {
  static char path[2600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static long size_of(const char *name) {
  struct stat st;
  return stat(in(name), &st) < 0 ? -errno : (long)st.st_size;
}

static void descriptors(void) {
  char one[1];
  for (int fd = 3; fd < 64; fd++) close(fd);
  int a = open(in("a"), O_CREAT | O_RDWR, 0644), b = open(in("b"), O_CREAT | O_RDWR, 0644);
  printf("descriptors %d %d\n", a, b);
  for (int i = 0; i < 100; i++) write(a, "a", 1);
  int moved = dup2(b, a);
  for (int i = 0; i < 50; i++) write(a, "b", 1);
  printf("dup2 %d, a has %ld, b has %ld\n", moved == a, size_of("a"), size_of("b"));
  close(a);
  long failed = read(a, one, 1);
  int why = errno;
  printf("closed %ld %d, close again %d\n", failed, why == EBADF, close(a));
  errno = 1234;
  long wrote = write(b, "b", 1);
  printf("errno stays %d after %ld\n", errno, wrote);
  close(b);
}

/* Addresses where nothing is. */
static void addresses(void) {
  struct stat st;
  char *nowhere[] = {NULL, (char *)8, (char *)-1, (char *)(1ul << 63)};
  int fd = open(in("a"), O_RDWR), faults = 0;
  for (int i = 0; i < 4; i++) {
    char *at = nowhere[i];
    faults += open(at, O_RDONLY) < 0 && errno == EFAULT;
    faults += stat(at, &st) < 0 && errno == EFAULT;
    faults += unlink(at) < 0 && errno == EFAULT;
    faults += write(fd, at, 1) < 0 && errno == EFAULT;
    faults += readv(fd, (struct iovec *)at, 1) < 0 && errno == EFAULT;
    faults += sendmsg(fd, (struct msghdr *)at, 0) < 0;  // it is no socket, either
  }
  printf("faults %d\n", faults);
  close(fd);
}

static void count(int signal) { handled++; }
static void leave(int signal) { siglongjmp(out, 1); }
static void calls(int signal) {
  int fd = open(in("handler"), O_CREAT | O_WRONLY | O_APPEND, 0644);
  write(fd, "h", 1);
  close(fd);
  handled++;
}

static void on(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

/* A signal, and another one if that came before a call that it was to interrupt; 0: no more. */
static void soon(long microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void signals(void) {
  int ends[2];
  char one[1];
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  pipe(ends);
  on(SIGALRM, count, 0);
  soon(20000);
  long failed = read(ends[0], one, 1);
  int why = errno;
  soon(0);
  printf("interrupted %ld %d %d\n", failed, why == EINTR, handled > 0);
  on(SIGALRM, leave, 0);
  volatile int jumps = 0;
  for (volatile int i = 0; i < 20; i++) {
    if (sigsetjmp(out, 1) == 0) {
      soon(2000);
      read(ends[0], one, 1);
    } else {
      soon(0);
      jumps++;
    }
  }
  printf("jumped out of %d reads\n", jumps);
  handled = 0;
  sigaltstack(&stack, NULL);
  on(SIGALRM, calls, SA_ONSTACK);
  for (int i = 0; i < 20; i++) {
    soon(2000);
    read(ends[0], one, 1);
    soon(0);
  }
  printf("handlers made calls %d, each its byte %d\n", handled >= 20, size_of("handler") == handled);
  on(SIGALRM, SIG_DFL, 0);
  close(ends[0]);
  on(SIGPIPE, count, 0);
  handled = 0;
  failed = write(ends[1], one, 1);
  why = errno;
  printf("no reader %ld %d %d\n", failed, why == EPIPE, handled);
  close(ends[1]);
}

static void *reads(void *from) {
  char one[1];
  read(*(int *)from, one, 1);
  return NULL;
}

static void *writes(void *unused) {
  int fd = open(in("thread"), O_CREAT | O_WRONLY | O_APPEND, 0644);
  for (int i = 0; i < 100; i++) write(fd, "t", 1);
  fsync(fd);
  close(fd);
  return NULL;
}

static void threads(void) {
  int ends[2];
  pthread_t thread;
  void *returned;
  pipe(ends);
  pthread_create(&thread, NULL, reads, &ends[0]);
  usleep(20000);
  pthread_cancel(thread);
  pthread_join(thread, &returned);
  printf("cancelled %d\n", returned == PTHREAD_CANCELED);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32768);
  pthread_create(&thread, &small, writes, NULL);
  pthread_join(thread, NULL);
  printf("a small stack wrote %ld\n", size_of("thread"));
  close(ends[0]);
  close(ends[1]);
}

static void ended(const char *what, pid_t child) {
  int status = 0;
  pid_t found = waitpid(child, &status, 0);
  printf("%s %d %x\n", what, found == child, status);
}

static void children(void) {
  fflush(stdout);
  pid_t child = vfork();
  if (child == 0) _exit(3);
  ended("vfork", child);
  child = vfork();
  if (child == 0) {
    execl("/bin/false", "false", NULL);
    _exit(9);
  }
  ended("vfork and exec", child);
  child = vfork();
  if (child == 0) {
    execl("/no/such/program", "program", NULL);
    _exit(errno == ENOENT ? 4 : 9);
  }
  ended("vfork and no exec", child);
  char *words[] = {"sh", "-c", "kill -TERM $$", NULL};
  posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ);
  ended("spawned", child);
  child = fork();
  if (child == 0) {
    int fd = open(in("child"), O_CREAT | O_WRONLY, 0644);
    for (int i = 0; i < 100; i++) write(fd, "c", 1);
    abort();
  }
  ended("aborted", child);
  printf("the child wrote %ld\n", size_of("child"));
  int status = system("exit 5"), none = waitpid(-1, NULL, 0), why = errno;
  printf("system %x, none left %d %d\n", status, none, why == ECHILD);
}

int main(int words, char **word) {
  strcpy(folder, word[1]);
  descriptors();
  addresses();
  signals();
  threads();
  children();
  return 7;
}
