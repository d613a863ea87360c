// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/modes/functions.hpp"

#include <functional>

namespace modes {

// What a late rank may do to another one.
enum class verdict {
  free, // must not hold it up: it leaves while the late one is out
  may,  // may hold it up or not
  must  // must hold it up: it may not leave before the late one has entered
};

// All that decides it.
struct situation {
  const function& what;
  in_mode in;
  out_mode out;
  int hint = 0; // UPC_PUSH, UPC_PULL or 0
  int threads = 0;
  int root = 0;
  int late = 0;
  bool small = false; // the blocks are small enough to be sent ahead
  bool empty = false; // the blocks have 0 bytes
  int turn = 0;       // which permutation

  flow of() const { return {what, threads, root, turn}; }
};

// Whom the caller, who is the rank that is judged or the late one, reaches by loads and stores.
using neighbourhood = std::function<bool(int)>;
verdict judge(const situation& s, int rank, const neighbourhood& near);

// In place, may a permuted block have to wait for others of its cycle than its two ends?
bool waits_along_its_cycle(const situation& s, const neighbourhood& near);

} // namespace modes
