// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <weft/version.h>
#include <weft/weft.hpp>

#include <upc.h>

static_assert(WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH >= 100);

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  std::printf("%d of %d\n", static_cast<int>(MYTHREAD), static_cast<int>(THREADS));
  weft_finalize();
}
