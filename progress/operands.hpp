#pragma once
#include "progress/flights.hpp"
#include "progress/reach.hpp"

namespace weft::progress {

// One block: bytes from the beginning of the source's segment, and of the destination's.
struct block {
  std::uint64_t src = 0, dst = 0, bytes = 0;
};

// Where the data of users may lie; a pointer found elsewhere is an error.
struct user_memory {
  std::uint64_t begin = 0, end = ~std::uint64_t{0};
};

// Finds the blocks of an operation: by the plan's rule, or in the rows of its members in shared memory. A near
// member's row is read in place, a far one's has been fetched. Whoever reads a row may do so: the plan has
// waited for the entry that the mode demands.
template <transport::transport T> class operands {
public:
  operands(reach<T>& members, const user_memory& user) : reach_(members), user_(user) {}

  block find(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    if (!p.indirect) [[likely]]
      return {op.at.src + p.rule.source(i, j), op.at.dst + p.rule.destination(i, j), p.rule.bytes};
    return read(op, i, j, iteration);
  }

  // The member that the row of m names, or nobody.
  std::uint32_t named_by(operation& op, std::uint32_t m, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    const engine::team_info& info = op.team->info;
    std::uint32_t member = findings::nobody;
    std::uint64_t value = 0;
    switch (p.names) {
    case graph::naming::rank:
    case graph::naming::thread:
      value = element<std::uint32_t>(op, m, op.at.perm);
      member = p.names == graph::naming::rank ? static_cast<std::uint32_t>(value) : info.member(value);
      break;
    case graph::naming::wide_thread:
      value = element<std::uint64_t>(op, m, op.at.perm);
      member = value <= max_rank ? info.member(static_cast<std::uint32_t>(value)) : info.size();
      break;
    case graph::naming::pointer:
      return root_named_by(op, m, iteration);
    case graph::naming::none:
      return member;
    }
    if (member < info.size()) return member;
    complain(op, {bad_operand::what::member, info.world[m], static_cast<std::uint32_t>(value), {}, 0});
    return findings::nobody;
  }

  // The member that my own row names; read once.
  std::uint32_t named(operation& op) {
    findings& known = *op.run->found;
    if (known.named == findings::unknown) {
      const std::uint32_t me = op.program->me;
      known.named = named_by(op, me, 0);
      if (op.program->rooted_by_rows()) {
        if (known.named == me) known.expected = op.program->chunks; // my own block is counted too
        known.not_root = known.named != me && known.named != findings::nobody;
      }
    }
    return known.named;
  }

  // How long the block is that my own row describes.
  std::uint64_t own_bytes(operation& op) {
    const graph::indirection& rows = op.program->indirect;
    if (rows.size.where == graph::found::by_rule) return op.program->rule.bytes;
    return element<std::uint64_t>(op, op.program->me, op.at.sizes);
  }

  // Whether a block goes from i to j.
  bool sends(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    switch (op.program->pairs) {
    case graph::pattern::by_source:
      return named_by(op, i, iteration) == j;
    case graph::pattern::by_destination:
      return named_by(op, j, iteration) == i;
    default:
      return op.program->sends(i, j);
    }
  }

  // Where in the far peer's segment, and to where here, an operand of the block between us is to be fetched.
  struct errand {
    std::uint64_t from = 0;
    void* to = nullptr;
    std::uint64_t bytes = 0; // 0: nothing to fetch
  };
  errand fetch(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration) {
    fetched_row& row = row_of(op, iteration);
    const graph::indirection& rows = op.program->indirect;
    switch (n.which) {
    case graph::operand::source:
      return {place(op, op.at.src, rows.src, peer, op.program->me, sizeof row.src), &row.src, sizeof row.src};
    case graph::operand::destination:
      return {place(op, op.at.dst, rows.dst, peer, op.program->me, sizeof row.dst), &row.dst, sizeof row.dst};
    case graph::operand::size:
      return {place(op, op.at.sizes, rows.size, peer, op.program->me, sizeof row.size), &row.size,
              sizeof row.size};
    }
    return {};
  }

private:
  static constexpr std::uint64_t max_rank = ~std::uint32_t{0};

  static fetched_row& row_of(operation& op, std::uint32_t iteration) {
    return op.run->found->rows[iteration % loop_state::window];
  }

  // The element of the holder's row for a block between it and the other.
  static std::uint64_t place(operation& op, std::uint64_t array, const graph::indirection::place& rule,
                             std::uint32_t holder, std::uint32_t other, std::size_t size) {
    const std::vector<std::uint32_t>& world = op.team->info.world;
    switch (rule.which) {
    case graph::column::only:
      return array;
    case graph::column::other:
      return array + world[other] * size;
    case graph::column::own:
      return array + world[holder] * size;
    }
    return array;
  }

  template <class Value> Value element(operation& op, std::uint32_t holder, std::uint64_t offset) {
    Value v;
    reach_.net.copy(&v, reach_.base(*op.team, holder) + offset, sizeof v);
    return v;
  }

  template <class Value>
  Value operand(operation& op, std::uint64_t array, const graph::indirection::place& rule, std::uint32_t i,
                std::uint32_t j, const Value& fetched) {
    const bool at_source = rule.where == graph::found::at_source;
    const std::uint32_t holder = at_source ? i : j, other = at_source ? j : i;
    if (!reach_.near(op, holder)) return fetched;
    return element<Value>(op, holder, place(op, array, rule, holder, other, sizeof(Value)));
  }

  block read(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    using what = bad_operand::what;
    const graph::plan& p = *op.program;
    const graph::indirection& rows = p.indirect;
    const fetched_row& row = row_of(op, iteration);
    block b{op.at.src + p.rule.source(i, j), op.at.dst + p.rule.destination(i, j), p.rule.bytes};
    if (rows.size.where != graph::found::by_rule)
      b.bytes = operand<std::uint64_t>(op, op.at.sizes, rows.size, i, j, row.size);
    if (b.bytes == 0) return b;
    if (rows.src.where != graph::found::by_rule) {
      const auto at = operand<shared_pointer>(op, op.at.src, rows.src, i, j, row.src);
      if (!usable(op, what::source, at, i, i, j, b.bytes)) return {};
      b.src = at.offset;
    }
    if (rows.dst.where != graph::found::by_rule) {
      const auto at = operand<shared_pointer>(op, op.at.dst, rows.dst, i, j, row.dst);
      if (!usable(op, what::destination, at, j, i, j, b.bytes)) return {};
      b.dst = at.offset;
    }
    return b;
  }

  bool usable(operation& op, bad_operand::what which, const shared_pointer& at, std::uint32_t owner,
              std::uint32_t i, std::uint32_t j, std::uint64_t bytes) {
    const std::vector<std::uint32_t>& world = op.team->info.world;
    if (at.thread == world[owner] && at.offset >= user_.begin && at.offset <= user_.end &&
        bytes <= user_.end - at.offset) [[likely]]
      return true;
    complain(op, {which, world[i], world[j], at, bytes});
    return false;
  }

  static void complain(operation& op, const bad_operand& bad) {
    if (!op.bad) op.bad = std::make_unique<bad_operand>(bad);
  }

  // The root is the thread of the pointer to it; nobody where the block is empty.
  std::uint32_t root_named_by(operation& op, std::uint32_t m, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    const fetched_row& row = row_of(op, iteration);
    if (operand<std::uint64_t>(op, op.at.sizes, p.indirect.size, m, m, row.size) == 0) return findings::nobody;
    const bool out = p.pairs == graph::pattern::by_source;
    const auto at = out ? operand<shared_pointer>(op, op.at.dst, p.indirect.dst, m, m, row.dst)
                        : operand<shared_pointer>(op, op.at.src, p.indirect.src, m, m, row.src);
    const engine::team_info& info = op.team->info;
    const std::uint32_t root = info.member(at.thread);
    if (root < info.size()) return root;
    const std::uint32_t owner = info.world[m];
    complain(op, {out ? bad_operand::what::destination : bad_operand::what::source, out ? owner : at.thread,
                  out ? at.thread : owner, at, 0});
    return findings::nobody;
  }

  reach<T>& reach_;
  const user_memory user_;
};

} // namespace weft::progress
