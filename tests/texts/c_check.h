// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <upc.h>

/* What the examples in C need: checks, and elements of shared arrays as the language would read and write
 * them. */
extern int failures;

static inline void check(int condition, const char* what, const char* file, int line) {
  if (condition) return;
  if (++failures < 20) fprintf(stderr, "thread %d, %s:%d: %s\n", MYTHREAD, file, line, what);
}
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

/* &array[i], array[i] = value and array[i], for `shared [block] type array[]`. */
#define ADDRESS(type, block, array, i) upc_ptradd(array, (size_t)(block), sizeof(type), i)

static inline void put_int(upc_shared_ptr_t array, int block, int i, int value) {
  upc_memput(ADDRESS(int, block, array, i), &value, sizeof value);
}
static inline int get_int(upc_shared_ptr_t array, int block, int i) {
  int value;
  upc_memget(&value, ADDRESS(int, block, array, i), sizeof value);
  return value;
}
static inline void put_char(upc_shared_ptr_t array, int block, int i, char value) {
  upc_memput(ADDRESS(char, block, array, i), &value, sizeof value);
}
static inline char get_char(upc_shared_ptr_t array, int block, int i) {
  char value;
  upc_memget(&value, ADDRESS(char, block, array, i), sizeof value);
  return value;
}
static inline void put_size(upc_shared_ptr_t array, int block, int i, size_t value) {
  upc_memput(ADDRESS(size_t, block, array, i), &value, sizeof value);
}
static inline void put_ptr(upc_shared_ptr_t array, int block, int i, upc_shared_ptr_t value) {
  upc_memput(ADDRESS(upc_shared_ptr_t, block, array, i), &value, sizeof value);
}

/* One for each text: registers its arrays, before weft_init; and runs its examples. */
void v1_0_arrays(void);
void v1_0(void);
void v0_3_arrays(void);
void v0_3(void);
void cray_permute_arrays(void);
void cray_permute(void);
void cray_alltoall(void);
