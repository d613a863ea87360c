// SPDX-License-Identifier: BSD-3-Clause
// What a rank takes of memory, counted: by the types of which the library has one for each rank, and by what
// was measured of UCX, PMIx and the system.

#include "engine/bundle_box.hpp"
#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "engine/topology/topology.hpp"
#include "engine/transport/ucx/links.hpp"
#include "progress/execution/channel.hpp"
#include "tools/command.hpp"

#include <algorithm>

namespace weft::tool {

namespace {

// Measured with UCX 1.13 and PMIx 4.2: of a process with one neighbour, without what it shares with other
// programs; what UCX and PMIx keep of each neighbour; the tables by which the system maps its memory; and of
// a connection over sockets.
constexpr std::uint64_t of_process = 4'310'000, kept_of_neighbour = 2'900, mapping_of_neighbour = 7'000,
                        of_connection = 2'000;
// Where each rank lives, as the job, the runtime, teams and the transport have it; and what became of it.
constexpr std::uint64_t where_and_whether = 3 * sizeof(std::uint32_t) + sizeof(progress::fate) + 1;

void print(const char* what, std::uint64_t bytes, const std::string& grows) {
  engine::print(stdout, "{:<42} {:>14} {}\n", what, bytes, grows);
}

} // namespace

void print_memory(std::uint32_t ranks, std::uint32_t nodes) {
  std::vector<std::string> warnings;
  const engine::settings s = engine::present_settings(warnings);
  const std::uint64_t each = (std::uint64_t{ranks} + nodes - 1) / nodes, near = each - 1, far = ranks - each;
  const std::uint64_t claims = engine::slots * sizeof(engine::word), for_near = kept_of_neighbour + claims;
  const std::uint64_t for_all = progress::channel::bytes_of_member + where_and_whether;
  const std::uint64_t for_far = progress::shadow::bytes_of_small_payloads + of_connection;
  const std::uint64_t aside = progress::channel::set_aside_for_member + sizeof(transport::ucx::link);
  const std::uint64_t start = of_process + near * (for_near + mapping_of_neighbour) + ranks * for_all;
  const std::uint64_t rounds = graph::dissemination_rounds(nodes), spoken = 2 * rounds;
  engine::print(stdout, "{} ranks on {} nodes, {} on the largest: memory of a rank, in bytes\n\n", ranks,
                nodes, each);
  engine::print(stdout, "{:<42} {:>14} {}\n", "what", "bytes", "grows with");
  print("the process, with a mailbox", of_process, "nothing");
  print("  of each rank of its node", near * for_near,
        engine::format("ranks of a node, {} for each", for_near));
  print("  its memory, as the system maps it", near * mapping_of_neighbour,
        engine::format("ranks of a node, {} for each", mapping_of_neighbour));
  print("where each rank is", ranks * for_all, engine::format("ranks, {} for each", for_all));
  print("in all, at the start", start, "");
  print("set aside for each rank, not taken", ranks * aside, engine::format("ranks, {} for each", aside));
  print("taken for far ranks that it speaks to", for_far, "each of them, of payloads of up to 56 bytes");
  print("  for those of rounds between leaders", std::min(spoken, far) * for_far,
        engine::format("the logarithm of the nodes: {} far ranks", std::min(spoken, far)));
  print("  for all, where each sends to each", far * for_far, engine::format("far ranks: {}", far));
  const graph::topology all(0, node_by_node(ranks, static_cast<std::uint32_t>(each)));
  print("for small blocks that go together", engine::bundle_box::bytes(all),
        engine::format("teams, {} boxes in that of all, taken when touched", graph::most_led(all)));
  print("shared heap, taken when touched", 2 * s.heap_size, "what the program allocates");
}

} // namespace weft::tool
