// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/collective_call.hpp"

#include "api/checks/failure.hpp"
#include "engine/call_place.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace weft::api {
namespace {

constexpr int in_modes = UPC_IN_NOSYNC | UPC_IN_MYSYNC | UPC_IN_ALLSYNC;
constexpr int out_modes = UPC_OUT_NOSYNC | UPC_OUT_MYSYNC | UPC_OUT_ALLSYNC;
constexpr int sync_modes = in_modes | out_modes;
constexpr int flags_of_all = sync_modes | UPC_PUSH | UPC_PULL | UPC_ASYNC;
static_assert(sync_modes == 63, "UPC 1.3: every combination of the modes is distinct, positive and below 64");

struct mode_pair {
  graph::sync in = graph::sync::all, out = graph::sync::all;
  bool valid = true;
};

constexpr mode_pair read_pair(int flags) {
  mode_pair pair;
  switch (flags & in_modes) {
  case 0:
  case UPC_IN_ALLSYNC:
    break;
  case UPC_IN_MYSYNC:
    pair.in = graph::sync::my;
    break;
  case UPC_IN_NOSYNC:
    pair.in = graph::sync::no;
    break;
  default:
    pair.valid = false;
  }
  switch (flags & out_modes) {
  case 0:
  case UPC_OUT_ALLSYNC:
    break;
  case UPC_OUT_MYSYNC:
    pair.out = graph::sync::my;
    break;
  case UPC_OUT_NOSYNC:
    pair.out = graph::sync::no;
    break;
  default:
    pair.valid = false;
  }
  return pair;
}

constexpr std::array<mode_pair, sync_modes + 1> make_pairs() {
  std::array<mode_pair, sync_modes + 1> all;
  for (int flags = 0; flags <= sync_modes; ++flags)
    all[flags] = read_pair(flags);
  return all;
}
constexpr auto pairs = make_pairs();

constexpr graph::hint read_hint(int flags) {
  switch (flags & (UPC_PUSH | UPC_PULL)) {
  case UPC_PUSH:
    return graph::hint::push;
  case UPC_PULL:
    return graph::hint::pull;
  default:
    return graph::hint::none;
  }
}

// What a call takes besides those of all.
std::string names_of(int flags) {
  struct named {
    int flag;
    const char* name;
  };
  static constexpr named all[] = {{UPC_IN_PLACE, "UPC_IN_PLACE"},
                                  {UPC_EXCLUSIVE_PREFIX_REDUCE, "UPC_EXCLUSIVE_PREFIX_REDUCE"},
                                  {WEFT_REPRODUCIBLE, "WEFT_REPRODUCIBLE"}};
  std::string text = "UPC_IN_*, UPC_OUT_*, UPC_PUSH, UPC_PULL";
  const char* last = "UPC_ASYNC";
  for (const named& one : all) {
    if ((flags & one.flag) == 0) continue;
    text.append(", ").append(last);
    last = one.name;
  }
  return text.append(" and ").append(last);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_flags(const char* call, int flags, int known) {
  char value[16];
  if ((flags & ~known) != 0) {
    std::snprintf(value, sizeof value, "0x%x", static_cast<unsigned>(flags));
    char unknown[48];
    std::snprintf(unknown, sizeof unknown, "0x%x is no flag of this call: join ",
                  static_cast<unsigned>(flags & ~known));
    fail(call, "sync_mode", value, unknown + names_of(known) + " only");
  }
  std::snprintf(value, sizeof value, "0x%x", static_cast<unsigned>(flags));
  const bool two_in = ((flags & in_modes) & ((flags & in_modes) - 1)) != 0;
  fail(call, "sync_mode", value,
       two_in ? "has two UPC_IN_ modes: give one at most" : "has two UPC_OUT_ modes: give one at most");
}

} // namespace

std::uint32_t place_in_program() {
  return engine::call_place::here().in_program();
}

mode read_mode(const char* call, upc_flag_t flags, upc_flag_t more) {
  const mode_pair pair = pairs[flags & sync_modes];
  if ((flags & ~(flags_of_all | more)) != 0 || !pair.valid) [[unlikely]]
    fail_flags(call, flags, flags_of_all | more);
  return {pair.in,
          pair.out,
          read_hint(flags),
          (flags & UPC_ASYNC) != 0,
          (flags & UPC_IN_PLACE) != 0,
          (flags & UPC_EXCLUSIVE_PREFIX_REDUCE) != 0,
          (flags & WEFT_REPRODUCIBLE) != 0};
}

void fail_root_rank(const collective_call& c, int root) {
  fail(c.name, "root", std::to_string(root),
       "must be a rank of the team, 0 to " + std::to_string(c.threads - 1));
}

void fail_team(const char* call, std::uint64_t team) {
  if (team == 0)
    fail(call, "team", "0",
         "unknown or freed team: the calling thread is none of it, or its weft::team has ended or was moved "
         "from");
  fail(call, "team", std::to_string(team),
       "unknown or freed team: pass UPC_TEAM_ALL, CRAY_UPC_TEAM_NODE, or what cray_upc_team_split or "
       "weft_team_from_threads gave this thread");
}

void fail_first(const collective_call& c, const char* argument, upc_shared_ptr_t p) {
  if (c.of_all()) require_thread_zero(c.name, argument, p);
  if (is_ordinary(p)) fail_ordinary_pointer(c.name, argument, p);
  fail_pointer(c.name, argument, p, "must have affinity to the thread of rank 0 of the team");
}

void fail_overlap(const collective_call& c, const area& dst) {
  fail_pointer(c.name, dst.argument, dst.at, "overlaps src: pass two areas that have no byte in common");
}

void fail_other_source(const collective_call& c, upc_shared_ptr_t src) {
  fail_pointer(
      c.name, "src", src,
      "must be null or dst, as the operation is in place: leave UPC_IN_PLACE out of sync_mode, or pass "
      "dst for src");
}

void fail_same(const collective_call& c, upc_shared_ptr_t src) {
  fail_pointer(c.name, "src", src,
               "is dst, so the two overlap: pass another area, or UPC_IN_PLACE in sync_mode");
}

void fail_source(const collective_call& c, upc_shared_ptr_t src) {
  fail(c.name, "src", is_in_place_mark(src) ? "UPC_IN_PLACE" : "(" + describe(src) + ")",
       "this operation needs its source in place too, for only the root's own block is not copied: pass the "
       "pointer, and UPC_IN_PLACE in sync_mode");
}

void fail_outsider(const collective_call& c, const area& of_root) {
  fail(c.name, of_root.argument, "thread " + std::to_string(of_root.at.thread),
       "is no member of the team: the root, whose thread this is, must be one");
}

void fail_rooted_overlap(const collective_call& c, const area& of_root, const area& tied) {
  fail(c.name, tied.argument, "(" + describe(tied.at) + ")",
       std::string("overlaps ") + of_root.argument +
           ": pass two areas that have no byte in common, or, with UPC_IN_PLACE in sync_mode, the root's own "
           "block at exactly the same place in both");
}

} // namespace weft::api
