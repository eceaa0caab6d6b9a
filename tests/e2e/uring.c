// Requests of io_uring by liburing: uring FILE. Ends with 0 if each did what it should.
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(condition) if (!(condition)) exit(__LINE__)
enum { SIZE = 4096, MANY = 8 };

static char data[MANY][SIZE];
static struct io_uring ring;

static struct io_uring_sqe *next(void) {
  struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
  CHECK(entry);
  return entry;
}

// Submits one request, and waits for its result.
static int result(void) {
  struct io_uring_cqe *done;
  CHECK(io_uring_submit(&ring) == 1 && io_uring_wait_cqe(&ring, &done) == 0);
  int found = done->res;
  io_uring_cqe_seen(&ring, done);
  return found;
}

// Many at once; results are taken from the ring without a call.
static void all_at_once(int fd, int writes) {
  for (int i = 0; i < MANY; i++) {
    struct io_uring_sqe *entry = next();
    if (writes) io_uring_prep_write(entry, fd, data[i], SIZE, i * SIZE);
    else io_uring_prep_read(entry, fd, data[i], SIZE, i * SIZE);
    io_uring_sqe_set_data64(entry, writes ? 0 : i);  // names need not differ
  }
  CHECK(io_uring_submit_and_wait(&ring, MANY) == MANY);
  struct io_uring_cqe *done;
  unsigned head, seen = 0;
  io_uring_for_each_cqe(&ring, head, done) {
    CHECK(done->res == SIZE);
    seen++;
  }
  CHECK(seen == MANY);
  io_uring_cq_advance(&ring, seen);
}

// Results are looked for again and again; the ring goes round several times.
static void without_waiting(int fd) {
  for (int i = 0; i < 10 * MANY; i++) {
    io_uring_prep_read(next(), fd, data[0], SIZE, i % MANY * SIZE);
    CHECK(io_uring_submit(&ring) == 1);
    struct io_uring_cqe *done;
    while (io_uring_peek_cqe(&ring, &done) != 0) usleep(10);
    CHECK(done->res == SIZE);
    io_uring_cqe_seen(&ring, done);
  }
}

// Vectors, buffers and descriptors that the kernel was told of before.
static void of_all_kinds(int fd) {
  struct iovec two[] = {{data[0], SIZE}, {data[1], SIZE}}, one = {data[2], SIZE};
  io_uring_prep_writev(next(), fd, two, 2, MANY * SIZE);
  CHECK(result() == 2 * SIZE);
  io_uring_prep_readv(next(), fd, two, 2, MANY * SIZE + 96);  // a part of it is there
  CHECK(result() == 2 * SIZE - 96);
  CHECK(io_uring_register_buffers(&ring, &one, 1) == 0);
  io_uring_prep_read_fixed(next(), fd, data[2], SIZE, 0, 0);
  CHECK(result() == SIZE);
  int files[] = {-1, dup(fd)};
  CHECK(io_uring_register_files(&ring, files, 2) == 0 && close(files[1]) == 0);
  struct io_uring_sqe *entry = next();
  io_uring_prep_write(entry, 1, data[0], SIZE, 0);
  entry->flags |= IOSQE_FIXED_FILE;
  CHECK(result() == SIZE);
  io_uring_prep_fsync(next(), fd, IORING_FSYNC_DATASYNC);
  CHECK(result() == 0);
  io_uring_prep_nop(next());
  CHECK(result() == 0);
  io_uring_prep_read(next(), files[1], data[0], SIZE, 0);  // closed
  CHECK(result() == -EBADF);
}

static void opened_there(const char *path) {
  io_uring_prep_openat(next(), AT_FDCWD, path, O_RDONLY, 0);
  int fd = result();
  CHECK(fd >= 0);
  io_uring_prep_read(next(), fd, data[0], SIZE, -1);
  CHECK(result() == SIZE);
  io_uring_prep_close(next(), fd);
  CHECK(result() == 0);
  io_uring_prep_openat(next(), AT_FDCWD, "/there/is/none", O_RDONLY, 0);
  CHECK(result() == -ENOENT);
}

static void sockets(void) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  io_uring_prep_send(next(), ends[0], data[0], 100, 0);
  CHECK(result() == 100);
  io_uring_prep_recv(next(), ends[1], data[0], SIZE, 0);
  CHECK(result() == 100);
  // nothing comes, for so long
  struct __kernel_timespec most = {.tv_nsec = 1000000};
  struct io_uring_cqe *done;
  CHECK(io_uring_wait_cqe_timeout(&ring, &done, &most) == -ETIME);
}

int main(int count, char **words) {
  (void)count;
  if (io_uring_queue_init(MANY, &ring, 0) != 0) return 200;  // this kernel has none
  int fd = open(words[1], O_CREAT | O_RDWR, 0644);
  all_at_once(fd, 1);
  all_at_once(fd, 0);
  without_waiting(fd);
  of_all_kinds(fd);
  opened_there(words[1]);
  sockets();
  io_uring_queue_exit(&ring);
  return 0;
}
