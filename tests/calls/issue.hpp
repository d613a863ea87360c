// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/arena.hpp"
#include "tests/calls/call.hpp"

#include <weft/weft.hpp>

namespace calls {

upc_flag_t in_flag(sync in);
upc_flag_t out_flag(sync out);

// Makes the call. What it returns is for upc_wait, or for upc_sync in the case of cray_upc_team_alltoall_nb.
unsigned long long post(const call& c, upc_team_t team, const members& m, const arena& memory);

} // namespace calls
