// SPDX-License-Identifier: BSD-3-Clause
// A rank that exits without weft_finalize, while the others wait for it. The launcher ends the job with its
// status; no thread waits for another.
#include "tests/jobs/suite.h"

#include <cstdlib>
#include <weft/weft.hpp>

WEFT_PROGRAM(early_exit) {
  weft_init(&argc, &argv);
  if (MYTHREAD == THREADS - 1) std::exit(7);
  for (;;)
    upc_barrier();
}
