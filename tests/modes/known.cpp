#include "tests/modes/known.hpp"

namespace modes {

const char* known_to_delay_blocks(const trial& t, bool far) {
  const bool transposed = t.what.in_place && t.what.op == operation::exchange;
  if (transposed && far && t.in == in_mode::my && t.threads > 3)
    return "exchange in place, UCP lane, IN_MYSYNC: who leads the swaps with several ranks takes them one "
           "after the "
           "other, so a late rank delays the swaps behind its own";
  return nullptr;
}

} // namespace modes
