// SPDX-License-Identifier: BSD-3-Clause
// Says that it is in the job, with the number of its process, and leaves when its input ends.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <unistd.h>
#include <weft/weft.hpp>

WEFT_PROGRAM(standing) {
  weft_init(&argc, &argv);
  upc_barrier;
  std::printf("in %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  if (MYTHREAD == 0) (void)std::getchar();
  upc_barrier;
  weft_finalize();
  return 0;
}
