// Each call of HDF5 that is recorded: each_hdf5_call FILE. Ends with 0 if each did what it should.
#include <stdint.h>
#include <stdlib.h>

#define CHECK(condition) if (!(condition)) exit(__LINE__)
typedef int64_t hid_t;

// What hdf5.h has; it is in no package that tests need.
extern hid_t H5T_NATIVE_INT_g, H5T_NATIVE_DOUBLE_g;
int H5open(void);
int H5Eset_auto2(hid_t, void *, void *);
hid_t H5Fcreate(const char *, unsigned, hid_t, hid_t), H5Fopen(const char *, unsigned, hid_t);
int H5Fflush(hid_t, int), H5Fclose(hid_t);
hid_t H5Screate_simple(int, const uint64_t *, const uint64_t *);
int H5Sselect_hyperslab(hid_t, int, const uint64_t *, const uint64_t *, const uint64_t *,
                        const uint64_t *);
hid_t H5Dcreate2(hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t);
hid_t H5Dopen2(hid_t, const char *, hid_t);
int H5Dread(hid_t, hid_t, hid_t, hid_t, hid_t, void *);
int H5Dwrite(hid_t, hid_t, hid_t, hid_t, hid_t, const void *);
int H5Dread_multi(size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, void **);
int H5Dwrite_multi(size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, const void **);
int H5Dclose(hid_t);
hid_t H5Acreate2(hid_t, const char *, hid_t, hid_t, hid_t, hid_t);
int H5Awrite(hid_t, hid_t, const void *), H5Aread(hid_t, hid_t, void *), H5Aclose(hid_t);

int main(int count, char **words) {
  (void)count;
  CHECK(H5open() >= 0 && H5Eset_auto2(0, NULL, NULL) >= 0);
  static int numbers[100];
  static double real[100];
  uint64_t size = 100, start = 10, part = 25;
  hid_t file = H5Fcreate(words[1], 2, 0, 0);
  hid_t space = H5Screate_simple(1, &size, NULL), few = H5Screate_simple(1, &part, NULL);
  hid_t set = H5Dcreate2(file, "set", H5T_NATIVE_INT_g, space, 0, 0, 0);
  CHECK(H5Dwrite(set, H5T_NATIVE_INT_g, 0, 0, 0, numbers) >= 0);  // 400 bytes
  CHECK(H5Sselect_hyperslab(space, 0, &start, NULL, &part, NULL) >= 0);
  CHECK(H5Dwrite(set, H5T_NATIVE_INT_g, few, space, 0, numbers) >= 0);  // 100
  CHECK(H5Dread(set, H5T_NATIVE_DOUBLE_g, few, space, 0, real) >= 0);  // 200, of 100 in the file
  hid_t sets[2] = {set, set}, kinds[2] = {H5T_NATIVE_INT_g, H5T_NATIVE_INT_g};
  hid_t memories[2] = {0, few}, spaces[2] = {0, space};
  void *into[2] = {numbers, numbers};
  const void *from[2] = {numbers, numbers};
  CHECK(H5Dwrite_multi(2, sets, kinds, memories, spaces, 0, from) >= 0);  // 400 and 100
  CHECK(H5Dread_multi(1, sets, kinds, memories, spaces, 0, into) >= 0);   // 400
  hid_t name = H5Acreate2(set, "few", H5T_NATIVE_INT_g, few, 0, 0);
  CHECK(H5Awrite(name, H5T_NATIVE_INT_g, numbers) >= 0 && H5Awrite(set, set, numbers) < 0);  // 100
  CHECK(H5Aread(name, H5T_NATIVE_DOUBLE_g, real) >= 0 && H5Aclose(name) >= 0);  // 200
  CHECK(H5Dwrite(-1, H5T_NATIVE_INT_g, 0, 0, 0, numbers) < 0);
  CHECK(H5Fflush(file, 0) >= 0 && H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
  file = H5Fopen(words[1], 0, 0);
  set = H5Dopen2(file, "set", 0);
  CHECK(H5Dread(set, H5T_NATIVE_INT_g, 0, 0, 0, numbers) >= 0);  // 400
  CHECK(H5Dopen2(file, "none", 0) < 0 && H5Fopen("/nowhere", 0, 0) < 0);
  CHECK(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
  return 0;
}
