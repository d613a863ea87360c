#pragma once
#include "api/include/weft/types.h"
#include "engine/plan/plan.hpp"

namespace weft::api {

// What the flags of a collective say, or would say where it has none.
struct mode {
  graph::sync in = graph::sync::all, out = graph::sync::all;
  graph::hint direction = graph::hint::none;
  bool async = false;
  bool in_place = false;
  bool exclusive = false;    // prefix reductions
  bool reproducible = false; // reductions
};

// Errors: two IN or two OUT modes, an unknown flag. `more`: flags that this call has besides those of all.
mode read_mode(const char* call, upc_flag_t flags, upc_flag_t more = UPC_IN_PLACE);

} // namespace weft::api
