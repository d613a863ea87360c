// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <upc.h>

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  if (argc > 1) {
    const upc_shared_ptr_t null = {0, 0, 0};
    upc_memset(null, 0, 8); /* an error, of this line: check_install.sh */
  }
  printf("%d of %d\n", (int)MYTHREAD, (int)THREADS);
  weft_finalize();
  return 0;
}
