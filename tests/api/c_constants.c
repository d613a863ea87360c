// SPDX-License-Identifier: BSD-3-Clause
/* The constants of C initialise static objects, and are values. Compiled pedantically, by every compiler there is. */
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

struct operand {
  int used;
  upc_shared_ptr_t at;
};
static upc_shared_ptr_t one = UPC_SHARED_NULL;
static upc_shared_ptr_t several[2] = {UPC_SHARED_NULL, UPC_IN_PLACE_SRC};
static const struct operand inside = {1, UPC_SHARED_NULL};
upc_shared_ptr_t in_place = UPC_IN_PLACE_SRC;

static int is_null(upc_shared_ptr_t p) {
  return upc_isnull(p);
}

int main(void) {
  upc_shared_ptr_t local = UPC_SHARED_NULL;
  several[1] = UPC_SHARED_NULL;
  local = in_place;
  return is_null(UPC_SHARED_NULL) && is_null(one) && is_null(several[1]) && is_null(inside.at) &&
                 !is_null(local) && !is_null(UPC_IN_PLACE_SRC)
             ? 0
             : 1;
}
