/* Makes a trace of about so many calls: writes and random reads of 20 files in this folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  static char data[65536];
  int calls = count > 1 ? atoi(arguments[1]) : 200000;
  char name[64];
  for (int f = 0; f < 20; f++) {
    snprintf(name, sizeof name, "out%d", f);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < calls / 40; i++) write(file, data, 512 << (i % 4));
    lseek(file, 0, SEEK_SET);
    for (int i = 0; i < calls / 40; i++) pread(file, data, 4096, (long)(rand() % calls) * 512);
    close(file);
    unlink(name);
  }
  return 0;
}
