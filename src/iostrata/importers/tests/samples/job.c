/* What the sample traces of DFTracer are of; see README.md. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  char data[4096];
  memset(data, 'x', sizeof data);
  mkdir("out", 0700);
  int file = open("out/a", O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 16; i++) write(file, data, 1000);
  lseek(file, 0, SEEK_SET);
  for (int i = 0; i < 4; i++) read(file, data, 4096);
  pwrite(file, data, 100, 50000);
  pread(file, data, 4096, 50050);
  fsync(file);
  close(file);
  open("absent", O_RDONLY);
  if (fork() == 0) {
    int child = open("out/b", O_WRONLY | O_CREAT | O_APPEND, 0600);
    write(child, data, 7);
    close(child);
    return 0;
  }
  wait(NULL);
  FILE *stream = fopen("out/s", "w+");
  fwrite(data, 8, 100, stream);
  fflush(stream);
  fseek(stream, 0, SEEK_SET);
  fread(data, 10, 50, stream);
  fclose(stream);
  rename("out/b", "out/c");
  unlink("out/c");
  return 0;
}
