// SPDX-License-Identifier: BSD-3-Clause
// A C++ program whose author takes the headers for C: they say themselves what they are.
extern "C" {
#include <upc.h>
#include <upc_atomic.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <upc_collective_ext.h>
#include <upc_nb.h>
#include <upc_one_sided.h>
#include <upc_types.h>
#include <upc_relaxed.h>
#include <upc_strict.h>
#include <upc_tick.h>
}

static upc_shared_ptr_t null = UPC_SHARED_NULL;

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  upc_barrier;
  null = upc_all_alloc(2, 8);
  upc_coll_handle_t h = upc_all_exchange(null, null, 0, UPC_ASYNC);
  upc_wait(h);
  weft_finalize();
}
