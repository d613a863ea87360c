// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/dissemination.hpp"

namespace weft::collectives {
using namespace graph;

node_set disseminate(hierarchical& s, const dissemination& d, const range& over, const blocks& of,
                     operand where, node_set after) {
  const std::uint64_t bytes = s.p().block();
  const std::uint8_t message = s.of_message();
  const std::uint8_t packed =
      s.b.add_place({.base = s.p().scratch, .step = d.most * bytes, .turn = bytes, .bytes = bytes});
  s.p().scratch += d.messages * d.most * bytes;
  s.sends(d.most * bytes);
  node pack = of_blocks(writing(reading(copy_own(), where.in, where.at), buffer::scratch, packed), of);
  builder::step_list steps;
  steps.then(pack);
  steps.then(send_packed(of, buffer::scratch, packed, message));
  steps.then(take_packed(of, where.in, where.at, message));
  const std::uint32_t together = d.radix <= most_radix_of_rounds ? d.radix - 1 : 0; // one round: in no order
  return s.b.loop(over, s.count(over), steps, after, static_cast<std::uint8_t>(together));
}

} // namespace weft::collectives
