#include "api/calls/mode.hpp"
#include "api/checks/failure.hpp"

#include <array>
#include <cstdio>

namespace weft::api {
namespace {

constexpr int in_modes = UPC_IN_NOSYNC | UPC_IN_MYSYNC | UPC_IN_ALLSYNC;
constexpr int out_modes = UPC_OUT_NOSYNC | UPC_OUT_MYSYNC | UPC_OUT_ALLSYNC;
constexpr int sync_modes = in_modes | out_modes;
constexpr int known_flags = sync_modes | UPC_PUSH | UPC_PULL | UPC_ASYNC | UPC_IN_PLACE;
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

[[noreturn, gnu::cold, gnu::noinline]] void fail_flags(const char* call, int flags, int known) {
  char value[16];
  if ((flags & ~known) != 0) {
    std::snprintf(value, sizeof value, "0x%x", static_cast<unsigned>(flags));
    char unknown[96];
    std::snprintf(unknown, sizeof unknown, "0x%x is no flag of this call: join UPC_IN_*, UPC_OUT_*, ",
                  static_cast<unsigned>(flags & ~known));
    fail(call, "sync_mode", value,
         std::string(unknown) + "UPC_PUSH, UPC_PULL, UPC_ASYNC and UPC_IN_PLACE only" +
             (known == known_flags ? "" : ", and UPC_EXCLUSIVE_PREFIX_REDUCE and WEFT_REPRODUCIBLE"));
  }
  std::snprintf(value, sizeof value, "0x%x", static_cast<unsigned>(flags));
  const bool two_in = ((flags & in_modes) & ((flags & in_modes) - 1)) != 0;
  fail(call, "sync_mode", value,
       two_in ? "has two UPC_IN_ modes: give one at most" : "has two UPC_OUT_ modes: give one at most");
}

} // namespace

mode read_mode(const char* call, upc_flag_t flags, upc_flag_t more) {
  const mode_pair pair = pairs[flags & sync_modes];
  if ((flags & ~(known_flags | more)) != 0 || !pair.valid) [[unlikely]]
    fail_flags(call, flags, known_flags | more);
  return {pair.in,
          pair.out,
          read_hint(flags),
          (flags & UPC_ASYNC) != 0,
          (flags & UPC_IN_PLACE) != 0,
          (flags & UPC_EXCLUSIVE_PREFIX_REDUCE) != 0,
          (flags & WEFT_REPRODUCIBLE) != 0};
}

} // namespace weft::api
