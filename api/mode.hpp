#pragma once
#include "api/weft/types.h"
#include "engine/graph/plan.hpp"

namespace weft::api {

// What the flags of a collective say.
struct mode {
  graph::sync in, out;
  graph::hint direction;
  bool async;
  bool in_place;
};

// Errors: two IN or two OUT modes, an unknown flag.
mode read_mode(const char* call, upc_flag_t flags);

} // namespace weft::api
