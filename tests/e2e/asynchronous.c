// Asynchronous calls of the C library and of libaio: asynchronous FILE. Ends with 0 if each did what
// it should.
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { SIZE = 4096, MANY = 8 };

// What libaio.h has; its header is in no package that tests need.
struct iocb {
  void *data;
  unsigned key, flags;
  short operation, priority;
  int fd;
  void *buffer;
  unsigned long size;
  long long offset, reserved;
  unsigned eventfd[2];
};
struct io_event { void *data; struct iocb *asked; long result, second; };
int io_setup(int, uintptr_t *);
int io_destroy(uintptr_t);
int io_submit(uintptr_t, long, struct iocb **);
int io_getevents(uintptr_t, long, long, struct io_event *, struct timespec *);

static char data[SIZE];

static ssize_t result(struct aiocb *asked) {
  const struct aiocb *list[] = {asked};
  do aio_suspend(list, 1, NULL);  // it may have ended already
  while (aio_error(asked) == EINPROGRESS);
  return aio_return(asked);
}

static void posix(int fd, int closed) {
  struct aiocb one = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = SIZE};
  for (int i = 0; i < MANY; i++) {
    one.aio_offset = i * SIZE;
    CHECK(aio_write(&one) == 0 && result(&one) == SIZE);
  }
  CHECK(aio_fsync(O_SYNC, &one) == 0 && result(&one) == 0);
  one.aio_offset = MANY * SIZE - 96;  // a part of it is there
  CHECK(aio_read(&one) == 0 && result(&one) == 96);
  struct aiocb *list[MANY];
  for (int i = 0; i < MANY; i++) {
    list[i] = calloc(1, sizeof **list);
    *list[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = data, .aio_nbytes = SIZE,
                              .aio_offset = i * SIZE, .aio_lio_opcode = LIO_READ};
  }
  CHECK(lio_listio(LIO_WAIT, list, MANY, NULL) == 0);
  for (int i = 0; i < MANY; i++) CHECK(aio_return(list[i]) == SIZE);
  struct aiocb bad = {.aio_fildes = closed, .aio_buf = data, .aio_nbytes = SIZE};
  CHECK(aio_read(&bad) == 0 && result(&bad) == -1 && aio_error(&bad) == EBADF);
}

static void native(int fd) {
  uintptr_t context = 0;
  CHECK(io_setup(MANY, &context) == 0);
  struct iocb asked[MANY], *list[MANY];
  struct io_event events[MANY];
  for (int write = 1; write >= 0; write--) {
    for (int i = 0; i < MANY; i++) {
      asked[i] = (struct iocb){.operation = write, .fd = fd, .buffer = data, .size = SIZE,
                               .offset = i * SIZE};
      list[i] = &asked[i];
    }
    CHECK(io_submit(context, MANY, list) == MANY);
    memset(asked, 0xff, sizeof asked);  // they are the program's again
    CHECK(io_getevents(context, MANY, MANY, events, NULL) == MANY);
    for (int i = 0; i < MANY; i++) CHECK(events[i].result == SIZE);
  }
  asked[0] = (struct iocb){.operation = 2, .fd = fd};
  CHECK(io_submit(context, 1, list) == 1);
  CHECK(io_getevents(context, 1, 1, events, NULL) == 1);
  CHECK(io_destroy(context) == 0);
}

int main(int count, char **words) {
  (void)count;
  int fd = open(words[1], O_CREAT | O_RDWR, 0644), closed = dup(fd);
  CHECK(close(closed) == 0);
  posix(fd, closed);
  native(fd);
  return 0;
}
