// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operands.hpp"

namespace weft::progress {

// Which rank is at the other end of my block, where rows in shared memory say it.
template <transport::transport T> class root_discovery {
public:
  root_discovery(reach<T>& members, operands<T>& blocks) : reach_(members), operands_(blocks) {}

  // Does the peer name me as the root?
  outcome look_at(operation& op, std::uint32_t peer) {
    findings& found = *op.run->found;
    named_block row;
    if (!operands_.row(op, peer, row)) return outcome::blocked;
    if (row.named == op.program->me)
      found.expected += op.program->chunks;
    else if (row.named != findings::no_rank)
      found.not_root = true;
    return outcome::done;
  }

  // Which rank names me: a far member says so, a near one's row does, or what stands in front of its
  // payload. No rank need be found once my block is here; but an eager one that stays with me goes the same
  // way as all.
  bool found_naming(operation& op) {
    const graph::plan& p = *op.program;
    findings& found = *op.run->found;
    const auto& told = op.channel->namings[engine::slot_of(op.seq)];
    const bool mine = operands_.own_row(op).named == p.me;
    if (mine && p.eager)
      found.naming = p.me;
    else if (mine || (!p.in_place && reach_.reached(reach_.own_counts(op).delivered, op, p.chunks)))
      found.naming = findings::no_rank;
    else if (told.seq == op.seq)
      found.naming = told.member;
    else
      found.naming = near_naming(op);
    return found.naming != findings::unknown;
  }

private:
  // The near member that names me; no rank, if all members are near and none does.
  std::uint32_t near_naming(operation& op) { return op.program->eager ? payload_naming(op) : row_naming(op); }

  std::uint32_t row_naming(operation& op) {
    bool all = op.channel->info.topology.one_host();
    for (const std::uint32_t peer : op.channel->info.topology.near()) {
      named_block row;
      if (!operands_.row(op, peer, row))
        all = false;
      else if (row.named == op.program->me)
        return peer;
    }
    return unnamed(op, all);
  }

  // On one host nothing new is found before one of the payloads comes that were not there: they are watched.
  std::uint32_t payload_naming(operation& op) {
    const graph::topology& g = op.channel->info.topology;
    watch_list& watch = op.run->watch;
    const std::uint32_t watched = watch.count;
    bool all = g.one_host();
    for (const std::uint32_t peer : g.near()) {
      std::uint32_t named = findings::no_rank;
      if (!payload_names(op, peer, named)) {
        all = false;
        watch.note_another(stamp_of(op, peer), op.seq);
      } else if (named == op.program->me) {
        watch.count = watched;
        return peer;
      }
    }
    if (!all && g.one_host())
      ++watch.nodes;
    else
      watch.count = watched;
    return unnamed(op, all);
  }

  // No more of them come, if those are all.
  std::uint32_t unnamed(operation& op, bool all) {
    if (!all) return findings::unknown;
    operands_.left_out(op);
    return findings::no_rank;
  }

  engine::word& stamp_of(operation& op, std::uint32_t peer) {
    return reach_.view(*op.channel, peer).head(engine::cells_of(op.seq)).stamp;
  }
  bool payload_names(operation& op, std::uint32_t peer, std::uint32_t& named) {
    if (reach_.net.load(stamp_of(op, peer)) != op.seq) return false;
    const engine::mailbox theirs = reach_.view(*op.channel, peer);
    reach_.net.copy(&named, theirs.payload(engine::cells_of(op.seq), op.program->eager_bytes[0]),
                    sizeof named);
    return true;
  }

  reach<T>& reach_;
  operands<T>& operands_;
};

} // namespace weft::progress
