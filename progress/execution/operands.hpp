// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/flights.hpp"
#include "progress/execution/reach.hpp"

namespace weft::progress {

// Finds the blocks of an operation: by the plan's rule, or in the rows of its members in shared memory. A
// near member's row is read in place, a far one's has been fetched or sent. Any rank that reads a row may do
// so: the plan has waited for the entry that the mode demands.
//
// A row's owner may change it when it has left the operation. So what a row said counts only for a rank that
// then gets something to do: a block whose owner has left is done, and its claim word has no piece left.
// Where the row alone decides (which rank names me?), its published copy does, see row().
template <transport::transport T> class operands {
public:
  explicit operands(reach<T>& members) : reach_(members) {}

  block find(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    if (!p.by_rows) [[likely]]
      return {op.at.src + p.places[graph::in_source].offset(i, j),
              op.at.dst + p.places[graph::in_destination].offset(i, j), p.block()};
    return find_in_rows(op, i, j, iteration);
  }

  // False, and an error of the operation, if the pointers in the rows do not lead where they must. For a rank
  // that is about to carry the block.
  bool usable(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    return !op.program->by_rows || usable_by_rows(op, i, j, iteration);
  }

  // My end of a block that no other rank touches there: of one that goes to a far peer in a message, or comes
  // so, or of my own. It may be ordinary memory. Null, and an error of the operation, if my row leads
  // elsewhere.
  std::byte* own_end(operation& op, std::uint32_t peer, bool gives) {
    if (op.program->block() == 0) return reach_.net.segment(); // pointers may be null
    const graph::indirection rows = op.program->indirect();
    const std::uint32_t me = op.program->me, i = gives ? me : peer, j = gives ? peer : me;
    const auto at =
        element<shared_pointer>(op, me,
                                place(op, gives ? op.at.src : op.at.dst, gives ? rows.src : rows.dst, me,
                                      peer, sizeof(shared_pointer)));
    const bool ordinary = at.phase >= shared_pointer::ordinary && at.thread == thread(op, me);
    if (!ordinary && !leads(op, gives ? source : destination, at, me, i, j,
                            engine::checked(op.program->block()) + begin(op)))
      return nullptr;
    return reach_.net.segment() + at.offset + begin(op);
  }

  // My own row; read once.
  const named_block& own_row(operation& op) {
    findings& found = *op.run->found;
    if (!found.own_known) {
      const std::uint32_t me = op.program->me;
      found.own = read_row(op, me, true);
      found.own_known = true;
      // A permutation that names no member: no rank will take my block.
      if (op.program->names != graph::naming::pointer && found.own.named == findings::no_rank)
        reach_.raise(reach_.own_counts(op).consumed, op.seq, op.program->chunks);
      if (op.program->rooted_by_rows()) {
        if (found.own.named == me) found.expected = op.program->chunks; // my own block is counted too
        found.not_root = found.own.named != me && found.own.named != findings::no_rank;
      }
    }
    return found.own;
  }

  // What the row of m says, if that is known. The published copy stays until I have retired the operation. As
  // long as it is not there m has not left: so what I read in the row itself is true if the copy is still not
  // there afterwards.
  bool row(operation& op, std::uint32_t m, named_block& said) {
    if (m == op.program->me) {
      said = own_row(op);
      return true;
    }
    engine::mailbox::head_line& head = reach_.view(*op.channel, m).head(engine::cells_of(op.seq));
    if (reach_.net.load(head.stamp) != op.seq) {
      const bool may_read = op.program->in != graph::sync::my || reach_.entered(op, m);
      if (!reach_.near(op, m) || !may_read) return false;
      said = read_row(op, m, false);
      reach_.net.fence(); // the row before the stamp
      if (reach_.net.load(head.stamp) != op.seq) return true;
    }
    reach_.net.copy(&said, head.payload, sizeof said);
    return true;
  }

  // A permutation in which I am not: nothing will land here.
  void left_out(operation& op) {
    complain(op, {bad_operand::what::no_rank, thread(op, op.program->me), 0, {}, 0});
    reach_.raise(reach_.own_counts(op).delivered, op.seq, op.program->chunks);
  }

  // Another member's element is mine too, and its block was taken.
  void named_twice(operation& op) {
    const std::uint32_t me = op.program->me;
    complain(op, {bad_operand::what::member, thread(op, me), 0, {}, element_of(op, me)});
  }

  // Where in the far peer's segment, and to where here, an operand of the block between us is to be fetched.
  struct errand {
    std::uint64_t from = 0;
    void* to = nullptr;
    std::uint64_t bytes = 0;
  };
  errand fetch(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration) {
    fetched_row& row = row_of(op, iteration);
    const graph::indirection rows = op.program->indirect();
    const std::uint32_t me = op.program->me;
    switch (n.which) {
    case graph::descriptor::source:
      return {place(op, op.at.src, rows.src, peer, me, sizeof row.src), &row.src, sizeof row.src};
    case graph::descriptor::destination:
      return {place(op, op.at.dst, rows.dst, peer, me, sizeof row.dst), &row.dst, sizeof row.dst};
    case graph::descriptor::size:
      return {place(op, op.at.sizes, rows.size, peer, me, sizeof row.size), &row.size, sizeof row.size};
    }
    return {};
  }

  // The first one is what the operation fails with.
  static void complain(operation& op, const bad_operand& bad) {
    if (op.bad) return;
    op.bad.reset(new (std::nothrow) bad_operand(bad));
    if (!op.bad) engine::end_out_of_memory("the error of an operation");
  }

private:
  [[gnu::noinline]] block find_in_rows(operation& op, std::uint32_t i, std::uint32_t j,
                                       std::uint32_t iteration) {
    return op.program->names == graph::naming::none ? read(op, i, j, iteration)
                                                    : described(op, i, j, iteration);
  }

  [[gnu::noinline]] bool usable_by_rows(operation& op, std::uint32_t i, std::uint32_t j,
                                        std::uint32_t iteration) {
    const graph::indirection rows = op.program->indirect();
    const fetched_row& row = row_of(op, iteration);
    if (op.program->names != graph::naming::none) {
      if (rows.dst.where != graph::found::at_destination || op.program->pairs != graph::pattern::by_source)
        return true; // the row that describes the block was looked at when it was read
      const std::uint64_t bytes = described(op, i, j, iteration).bytes;
      return bytes == 0 ||
             leads(op, destination, pointer(op, op.at.dst, rows.dst, i, j, row.dst), j, i, j, bytes);
    }
    const engine::checked bytes = size(op, i, j, row) + begin(op);
    if (bytes == 0) return true;
    return (rows.src.where == graph::found::by_rule ||
            leads(op, source, pointer(op, op.at.src, rows.src, i, j, row.src), i, i, j, bytes)) &&
           (rows.dst.where == graph::found::by_rule ||
            leads(op, destination, pointer(op, op.at.dst, rows.dst, i, j, row.dst), j, i, j, bytes));
  }

  static constexpr auto source = bad_operand::what::source;
  static constexpr auto destination = bad_operand::what::destination;

  static fetched_row& row_of(operation& op, std::uint32_t iteration) {
    return op.run->found->rows[iteration % loop_state::window];
  }

  // The element of the holder's row for a block between it and the other.
  static std::uint64_t place(operation& op, std::uint64_t array, const graph::row_element& rule,
                             std::uint32_t holder, std::uint32_t other, std::size_t bytes) {
    const std::vector<std::uint32_t>& world = op.channel->info.world;
    switch (rule.which) {
    case graph::column::only:
      return array;
    case graph::column::other:
      return array + world[other] * bytes;
    case graph::column::own:
      return array + world[holder] * bytes;
    }
    return array;
  }

  // Of a row whose owner may have left and be changing it; see above why that does no harm.
  template <class Value> Value element(operation& op, std::uint32_t holder, std::uint64_t offset) {
    return reach_.net.template peek<Value>(reach_.base(*op.channel, holder) + offset);
  }

  template <class Value>
  Value operand(operation& op, std::uint64_t array, const graph::row_element& rule, std::uint32_t i,
                std::uint32_t j, const Value& fetched) {
    const bool at_source = rule.where == graph::found::at_source;
    const std::uint32_t holder = at_source ? i : j, other = at_source ? j : i;
    if (!reach_.near(op, holder)) return fetched;
    return element<Value>(op, holder, place(op, array, rule, holder, other, sizeof(Value)));
  }
  shared_pointer pointer(operation& op, std::uint64_t array, const graph::row_element& rule, std::uint32_t i,
                         std::uint32_t j, const shared_pointer& fetched) {
    return operand<shared_pointer>(op, array, rule, i, j, fetched);
  }
  engine::checked size(operation& op, std::uint32_t i, std::uint32_t j, const fetched_row& row) {
    const graph::indirection rows = op.program->indirect();
    if (rows.size.where == graph::found::by_rule) return op.program->block();
    return operand<engine::checked>(op, op.at.sizes, rows.size, i, j, row.size);
  }

  // Of blocks that go in several operations: how much of each the ones before this have.
  static std::uint64_t begin(const operation& op) {
    return op.program->indirect().by_own_ends() ? op.at.sizes : 0;
  }

  block read(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    const graph::indirection rows = p.indirect();
    const fetched_row& row = row_of(op, iteration);
    block b{op.at.src + p.places[graph::in_source].offset(i, j),
            op.at.dst + p.places[graph::in_destination].offset(i, j),
            reach_.user.possible(size(op, i, j, row))};
    if (rows.src.where != graph::found::by_rule)
      b.src = pointer(op, op.at.src, rows.src, i, j, row.src).offset + begin(op);
    if (rows.dst.where != graph::found::by_rule)
      b.dst = pointer(op, op.at.dst, rows.dst, i, j, row.dst).offset + begin(op);
    return b;
  }

  // The block that one end's row describes; the other end may have to give its address.
  block described(operation& op, std::uint32_t i, std::uint32_t j, std::uint32_t iteration) {
    const graph::plan& p = *op.program;
    const bool by_source = p.pairs == graph::pattern::by_source;
    named_block said;
    if (!row(op, by_source ? i : j, said)) return {};
    if (by_source && p.places[graph::in_destination].pointer.where == graph::found::at_destination &&
        said.what.bytes != 0 && (reach_.near(op, j) || i == p.me))
      said.what.dst =
          pointer(op, op.at.dst, p.places[graph::in_destination].pointer, i, j, row_of(op, iteration).dst)
              .offset;
    return said.what;
  }

  named_block read_row(operation& op, std::uint32_t m, bool mine) {
    const graph::plan& p = *op.program;
    if (p.names == graph::naming::pointer) return read_rooted_row(op, m, mine);
    named_block said;
    const std::uint32_t named = member_named(op, m);
    const graph::indirection rows = p.indirect();
    said.what = {op.at.src, op.at.dst, p.block()};
    if (rows) {
      const auto bytes = element<engine::checked>(op, m, op.at.sizes);
      const auto at = element<shared_pointer>(op, m, op.at.src);
      const bool bad = bytes != 0 && named < op.channel->info.size() &&
                       !is_good(op, at, m, bytes, mine, {source, m, named});
      said.what = {at.offset, 0, bad ? 0 : reach_.user.possible(bytes)};
    }
    if (named < op.channel->info.size()) said.named = named;
    return said;
  }

  std::uint64_t element_of(operation& op, std::uint32_t m) {
    if (op.program->names == graph::naming::wide_thread) return element<std::uint64_t>(op, m, op.at.perm);
    return element<std::uint32_t>(op, m, op.at.perm);
  }

  std::uint32_t member_named(operation& op, std::uint32_t m) {
    const engine::team_info& info = op.channel->info;
    const std::uint64_t value = element_of(op, m);
    std::uint32_t member = info.size();
    if (op.program->names == graph::naming::rank)
      member = static_cast<std::uint32_t>(value);
    else if (value <= ~std::uint32_t{0})
      member = info.member(static_cast<std::uint32_t>(value));
    if (member >= info.size() && m == op.program->me)
      complain(op, {bad_operand::what::member, info.world[m], 0, {}, value});
    return member;
  }

  // The root is the thread of the pointer to it; no rank where the block is empty.
  named_block read_rooted_row(operation& op, std::uint32_t m, bool mine) {
    named_block said;
    const auto bytes = element<engine::checked>(op, m, op.at.sizes);
    if (bytes == 0) return said;
    const auto src = element<shared_pointer>(op, m, op.at.src),
               dst = element<shared_pointer>(op, m, op.at.dst);
    const bool out = op.program->pairs == graph::pattern::by_source;
    const engine::team_info& info = op.channel->info;
    const std::uint32_t root = info.member(out ? dst.thread : src.thread);
    const std::uint32_t i = out ? m : root, j = out ? root : m;
    if (!is_good(op, src, i, bytes, mine, {source, i, j}) ||
        !is_good(op, dst, j, bytes, mine, {destination, i, j}))
      return {};
    said.named = root;
    said.what = {src.offset, dst.offset, reach_.user.possible(bytes)};
    return said;
  }

  struct end {
    bad_operand::what which;
    std::uint32_t i, j;
  };
  // Its owner complains.
  bool is_good(operation& op, const shared_pointer& at, std::uint32_t owner, engine::checked bytes, bool mine,
               const end& of) {
    if (is_good(op, at, owner, bytes)) [[likely]]
      return true;
    if (mine) complain(op, {of.which, thread(op, of.i), thread(op, of.j), at, bytes.plain()});
    return false;
  }
  bool is_good(operation& op, const shared_pointer& at, std::uint32_t owner, engine::checked bytes) const {
    const engine::team_info& info = op.channel->info;
    return owner < info.size() && at.thread == info.world[owner] && reach_.user.holds(at.offset, bytes);
  }
  bool leads(operation& op, bad_operand::what which, const shared_pointer& at, std::uint32_t owner,
             std::uint32_t i, std::uint32_t j, engine::checked bytes) {
    return is_good(op, at, owner, bytes, true, {which, i, j});
  }
  static std::uint32_t thread(const operation& op, std::uint32_t member) {
    return member < op.channel->info.size() ? op.channel->info.world[member] : member;
  }

  reach<T>& reach_;
};

} // namespace weft::progress
