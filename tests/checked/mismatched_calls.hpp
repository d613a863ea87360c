// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <vector>
#include <weft/weft.hpp>

namespace weft::tests::mismatches {

using call = std::function<void(upc_team_t)>;
struct kind {
  const char* name;
  call usual, odd;
  const char *usual_text, *odd_text; // of which the message has both
};

// Calls of which one thread makes another: on a team, and those that are of all threads; and pairs that
// match.
std::vector<kind> kinds();
std::vector<kind> kinds_of_all();
std::vector<kind> legal();

// Allocates what the calls move; of all threads.
void prepare();

constexpr std::size_t room = 64 * 1024; // on each thread
extern upc_shared_ptr_t dst, other;

inline upc_shared_ptr_t on(upc_shared_ptr_t p, int thread) {
  p.thread = static_cast<decltype(p.thread)>(thread);
  return p;
}

} // namespace weft::tests::mismatches
