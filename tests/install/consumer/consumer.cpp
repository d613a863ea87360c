// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <weft/version.h>
#include <weft/weft.hpp>

#include <upc.h>

static_assert(WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH >= 100);

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  try {
    weft::upc_memset(upc_shared_ptr_t{}, 0, argc > 1 ? 8 : 0);
  } catch (const weft::error& e) { // with its line: check_install.sh
    std::printf("%s\n", e.what());
  }
  std::printf("%d of %d\n", static_cast<int>(MYTHREAD), static_cast<int>(THREADS));
  weft_finalize();
}
