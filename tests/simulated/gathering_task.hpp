// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/runs.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace weft::tests {

// What a verifier takes a computation for, run: the partial result of a member is its source block, and the
// result is all of them side by side. So whoever loses, doubles or mixes up one is found by the reference of
// a gather. Done in pieces of one member's block, when no more is asked for.
struct gathering_task : graph::task {
  // How results come about: of all parts on each member; of its own alone, which the others have no other way
  // to get; of parts that the root brings.
  enum class form : std::uint8_t { gathered, handed_out, brought };
  gathering_task(bool of_user, form f) {
    run = f == form::handed_out ? make_own : gather;
    part_of = f == form::brought ? part_of_table : part;
    room = 2 * most_members * most_bytes;
    room_alone = of_user ? 0 : room; // then it is wrong to work alone
    user = of_user;
  }
  static constexpr std::uint64_t most_members = 16, most_bytes = 2048;

private:
  // Where hosts combine among each other: of each member whether its block is here, and the block. What comes
  // twice is spoilt.
  struct gathered {
    std::vector<std::byte> known, came, told;
    std::map<std::uint32_t, std::vector<std::byte>> given;
  };
  // What is so large that a plan that combines has no scratch for it.
  static gathered& of(const graph::work& w) {
    static std::mutex turn;
    static std::map<const std::byte*, gathered> all;
    const std::lock_guard mine(turn);
    return all[w.scratch];
  }
  static std::uint64_t bytes_of(const graph::work& w) { return w.members * (1 + w.block); }
  static void add(const graph::work& w, std::vector<std::byte>& to, const std::vector<std::byte>& from) {
    to.resize(bytes_of(w));
    for (std::uint32_t m = 0; m != w.members; ++m) {
      if (from[m] == std::byte{0}) continue;
      std::byte* const block = to.data() + w.members + m * w.block;
      if (to[m] == std::byte{0})
        std::memcpy(block, from.data() + w.members + m * w.block, w.block);
      else
        std::memset(block, 0xBD, w.block);
      to[m] = std::byte{1};
    }
  }
  static bool combine_by_hosts(graph::work& w) {
    using namespace reductions;
    gathered& it = of(w);
    switch (w.stage) {
    case own_run: {
      std::vector<std::byte>& mine = it.given[w.me];
      mine.assign(bytes_of(w), std::byte{0});
      mine[w.me] = std::byte{1};
      std::memcpy(mine.data() + w.members + w.me * w.block, w.segment + w.src, w.block);
      return true;
    }
    case known_of_host:
      it.known.clear();
      for (std::uint32_t k = 0; k != w.where->locals(); ++k)
        add(w, it.known, it.given[w.where->local(k)]);
      return true;
    case rest_of_pair:
      it.came = it.known;
      return true;
    case known_of_rest:
      it.known = it.came;
      return true;
    case told_to_host:
      it.told = it.known;
      return true;
    case combined_result:
      for (std::uint32_t m = 0; m != w.members; ++m)
        if (it.told[m] != std::byte{0})
          std::memcpy(w.segment + w.dst + m * w.block, it.told.data() + w.members + m * w.block, w.block);
      return true;
    default:
      add(w, it.known, it.came);
      return true;
    }
  }
  static graph::part combined_part(const graph::work& w, std::uint32_t peer) {
    using namespace reductions;
    gathered& it = of(w);
    std::vector<std::byte>& payload = w.stage == own_run      ? it.given[peer]
                                      : w.stage == known_runs ? it.known
                                      : w.stage == told_runs  ? it.told
                                                              : it.came;
    payload.resize(bytes_of(w));
    return {0, payload.data(), payload.size()};
  }

  static bool gather(const graph::task&, graph::work& w) {
    if (w.stage >= reductions::own_run) return combine_by_hosts(w);
    const std::byte* const source = w.segment + w.src;
    std::byte* const destination = w.segment + w.dst;
    const bool in_pieces = w.budget < ~std::uint64_t{0};
    switch (w.stage) {
    case 0:
      std::memcpy(w.scratch + w.me * w.block, source, w.block);
      return true;
    case 1:
      for (; w.done != w.members; ++w.done) {
        std::memcpy(destination + w.done * w.block, w.scratch + w.done * w.block, w.block);
        if (in_pieces && w.done + 1 != w.members) return ++w.done, false;
      }
      return true;
    default:
      return true;
    }
  }
  static bool make_own(const graph::task& t, graph::work& w) {
    std::byte* const result = w.room + most_members * most_bytes;
    if (w.stage == 0) return gather(t, w);
    if (w.stage == 1) std::memcpy(result, w.scratch + w.me * w.block, w.block);
    if (w.stage == 2) std::memcpy(w.segment + w.dst + w.me * w.block, result, w.block);
    return true;
  }
  static graph::part part_of_table(const graph::task&, const graph::work& w, std::uint32_t peer) {
    return {w.src, w.scratch + peer * w.block, w.block};
  }
  static graph::part part(const graph::task& t, const graph::work& w, std::uint32_t peer) {
    if (w.alone && t.room_alone != 0) return part_of_table(t, w, peer);
    if (w.stage >= reductions::own_run) return combined_part(w, peer);
    if (w.stage == 1) return {w.dst + w.me * w.block, w.room + most_members * most_bytes, w.block};
    return {w.src, w.room + peer * w.block, w.block};
  }
};

using form_of_task = gathering_task::form;
inline const gathering_task gathering_tasks[2][3] = {
    {{false, form_of_task::gathered}, {false, form_of_task::handed_out}, {false, form_of_task::brought}},
    {{true, form_of_task::gathered}, {true, form_of_task::handed_out}, {true, form_of_task::brought}}};

} // namespace weft::tests
