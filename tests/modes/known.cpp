#include "tests/modes/known.hpp"

namespace modes {

const char* known_violation(const trial& t) {
  if (t.what.kind == family::extended) return "operands in shared memory are not carried out yet";
  if (t.what.in_place) return "operations in place are not carried out yet";
  if (t.what.op == operation::permute) return "permute is not carried out yet";
  return nullptr;
}

} // namespace modes
