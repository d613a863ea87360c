// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <upc.h>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  printf("%d of %d\n", (int)MYTHREAD, (int)THREADS);
  weft_finalize();
  return 0;
}
