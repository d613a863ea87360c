#pragma once
#include "progress/execution/operands.hpp"

namespace weft::progress {

// Who is at the other end of my block, where rows in shared memory say it.
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
    else if (row.named != findings::nobody)
      found.not_root = true;
    return outcome::done;
  }

  // Who names me: a far member says so, a near one's row does, or what stands in front of its payload. Nobody
  // need be found once my block is here; but an eager one that stays with me goes the same way as all.
  bool found_naming(operation& op) {
    const graph::plan& p = *op.program;
    findings& found = *op.run->found;
    const auto& told = op.channel->namings[engine::slot_of(op.seq)];
    const bool mine = operands_.own_row(op).named == p.me;
    if (mine && p.eager)
      found.naming = p.me;
    else if (mine || (!p.in_place && reach_.reached(reach_.own_counts(op).delivered, op, p.chunks)))
      found.naming = findings::nobody;
    else if (told.seq == op.seq)
      found.naming = told.member;
    else
      found.naming = near_naming(op);
    return found.naming != findings::unknown;
  }

private:
  // The near member that names me; nobody, if all members are near and none does.
  std::uint32_t near_naming(operation& op) {
    bool all = op.channel->info.topology.one_host();
    for (const std::uint32_t peer : op.channel->info.topology.near()) {
      std::uint32_t named = findings::nobody;
      if (!(op.program->eager ? payload_names(op, peer, named) : row_names(op, peer, named)))
        all = false;
      else if (named == op.program->me)
        return peer;
    }
    if (!all) return findings::unknown;
    operands_.left_out(op);
    return findings::nobody;
  }

  bool row_names(operation& op, std::uint32_t peer, std::uint32_t& named) {
    named_block row;
    if (!operands_.row(op, peer, row)) return false;
    named = row.named;
    return true;
  }

  bool payload_names(operation& op, std::uint32_t peer, std::uint32_t& named) {
    const engine::mailbox theirs = reach_.view(*op.channel, peer);
    const std::uint32_t cells = engine::cells_of(op.seq);
    if (reach_.net.load(theirs.head(cells).stamp) != op.seq) return false;
    reach_.net.copy(&named, theirs.payload(cells, op.program->eager_bytes[0]), sizeof named);
    return true;
  }

  reach<T>& reach_;
  operands<T>& operands_;
};

} // namespace weft::progress
