// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef WEFT_ABLATE
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#endif

// What the engine does in another way than in general because that is faster. Each has a switch, so that what
// it gains can be measured: `./run perf --ablate` does, and knows in which case. Whatever is off, the results
// are the same.
namespace weft::special {

#ifdef WEFT_ABLATE

// In a build that is made for this, the environment variable ABLATED names those that are off, with commas
// between; it is read once, at the start, and must be the same for all ranks.
inline std::string ablated() {
  const char* const names = std::getenv("ABLATED");
  return names == nullptr || *names == 0 ? "," : "," + std::string(names) + ",";
}
inline auto unknown = std::ranges::count(ablated(), ',') - 1; // names that none of the switches has

class path {
public:
  explicit path(const char* name) : on_(ablated().find("," + std::string(name) + ",") == std::string::npos) {
    unknown -= !on_;
  }
  operator bool() const noexcept { return on_; }

private:
  bool on_;
};

#else

// In every other build a switch is the constant true, and costs nothing.
struct path {
  explicit constexpr path(const char*) {}
  constexpr operator bool() const noexcept { return true; }
};

#endif

// A step that moves the same region each time has it noted in the plan: it is not resolved again.
inline const path settled_steps("settled_steps");
// The last plan of each kind of operation is compared first: no key is hashed.
inline const path recent_plans("recent_plans");
// A blocking call goes through the few steps of a plan within the host in a row: it keeps no state of them.
inline const path straight("straight");
// A loop of one step for one peer is run as that step: no iterations are counted.
inline const path single_steps("single_steps");
// A blocking call copies its own block alone: the block is neither claimed nor counted.
inline const path own_pieces("own_pieces");
// The progress thread stays muted while calls over sockets follow each other: no message between wakes it.
inline const path gate_later("gate_later");
// A block over sockets is put in order with its count: the count does not wait for a flush.
inline const path push("push");
// Engines hand a small broadcast on, in a tree over the hosts: the root does not send to all.
inline const path relays("relays");
// Small blocks to another host go together, those of all members that have entered: not each in its message.
inline const path bundles("bundles");

#ifdef WEFT_ABLATE
// Else something would be measured that was not meant.
inline const bool all_known = [] {
  if (unknown == 0) return true;
  std::fprintf(stderr, "weft: ABLATED=%s names what is no special path\n", std::getenv("ABLATED"));
  std::_Exit(2);
}();
#endif

} // namespace weft::special
