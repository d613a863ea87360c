// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/arguments.hpp"

#include "tests/calls/array.hpp"
#include "tests/calls/drawing.hpp"
#include "tests/calls/elements.hpp"

#include <numeric>
#include <utility>

namespace calls {

namespace {

class drawer : drawing {
public:
  explicit drawer(const drawing& from) : drawing(from) {}

  void modes() {
    static constexpr sync all[] = {sync::no, sync::my, sync::all};
    static constexpr int hints[] = {0, 0, UPC_PUSH, UPC_PULL, UPC_PUSH | UPC_PULL};
    c.in = d.pick(all);
    c.out = d.pick(all);
    c.say_in = c.in != sync::all || d.chance(50);
    c.say_out = c.out != sync::all || d.chance(50);
    c.hints = d.pick(hints);
    c.async = d.chance(60);
    if (is_x(c.what)) return; // these always take a team, as their last argument
    c.spelling = d.chance(50) ? form::team_name : form::team_overload;
    if (c.team == 0 && d.chance(60)) c.spelling = form::plain;
  }

  // Cray's functions are as if with these modes.
  void cray_modes() {
    c.in = sync::my;
    c.out = c.what == kind::alltoall ? sync::all : sync::no;
  }

  // One thread calls, whatever the others do: the data are in place all the time.
  void one_sided(bool is_list) {
    c.in = c.out = sync::no;
    c.caller = static_cast<std::uint32_t>(d.below(T));
    c.async = d.chance(50);
    c.spelling = form::list;
    if (c.team == 0 && d.chance(60)) c.spelling = form::team_overload;
    if (c.team == 0 && !c.async && d.chance(50)) c.spelling = form::plain;
    if (c.team != 0 && !is_list && member(c.caller) && d.chance(50)) c.spelling = form::team_overload;
  }
  // In place both pointers are the same, whose thread is the root.
  void one_sided_place() {
    if (c.what == kind::broadcast || c.what == kind::scatter) c.src.thread = any_thread();
    if (c.what == kind::gather) c.dst.thread = any_thread();
    if (c.what == kind::gather_all || !d.chance(limits.own_place_percent)) return;
    c.own = in_place::root_block;
    if (c.what == kind::scatter || c.what == kind::broadcast || is_array(c.what))
      c.dst = c.src;
    else
      c.src = c.dst;
  }

  // Arrays in blocks over all threads, in any layout and phase; of some of them only where the elements lie
  // on members.
  void arrays() {
    const std::span<const elements> all = c.what == kind::sort ? sorted_elements() : reduced_elements();
    c.of = c.one_sided() ? &all.front() : &d.pick(all);
    const auto operators =
        c.one_sided() ? c.of->operators.first(c.of->operators.size() - 2) : c.of->operators;
    if (!operators.empty()) c.op = d.pick(operators); // one-sided: none of the user's functions
    c.key = d.next();
    c.hints = c.what != kind::sort && !c.one_sided() && d.chance(25) ? WEFT_REPRODUCIBLE : 0;
    const std::uint64_t most = std::min<std::uint64_t>(limits.largest, 640 * 1024) / c.of->size;
    const std::uint64_t some[] = {60, 60, 3000, 20000};
    c.nelems = d.chance(5)
                   ? 0
                   : 1 + d.below(std::min(most + 1, small                               ? 60
                                                    : limits.largest != default_largest ? most + 1
                                                                                        : d.pick(some)));
    c.blk_size = d.chance(15)   ? 0
                 : d.chance(40) ? (c.nelems + m.size() - 1) / m.size() + d.below(3)
                 : d.chance(60) ? d.between(1, 9)
                                : d.between(1, std::max<std::uint64_t>(c.nelems, 1));
    if (c.one_sided() && c.spelling == form::plain) c.nelems = T, c.blk_size = 1; // one of each thread
    if (space.end() + 2 * array::extent(c, c.blk_size, threads_of_arrays()) + 4 * page > room) {
      c.nelems %= 60;
      c.blk_size = std::min<std::uint64_t>(c.blk_size, 9);
    }
    c.src = first_element();
    if (!c.one_sided() && m.size() != T && c.blk_size != 0)
      c.nelems = std::min(c.nelems, neighbours(c.src.thread) * c.blk_size - c.src.phase);
    take_array(c.src);
    destination();
    if (c.one_sided()) one_sided_place();
  }

  // Vectors of each thread at places of their own.
  void vectors() {
    c.of = &d.pick(vector_elements());
    c.op = d.pick(c.of->operators);
    c.key = d.next();
    c.in = c.out = sync::my;
    c.async = d.chance(50);
    c.hints = 0;
    c.root = d.below(m.size());
    c.nelems = std::min<std::uint64_t>(d.chance(60) ? 300 : 60000, limits.largest / c.of->size);
    c.nelems = d.chance(5) ? 0 : d.below(c.nelems + 1);
    if (space.end() + 2 * c.nelems * c.of->size + 4 * page > room) c.nelems %= 60;
    if (c.what == kind::team_reduce_scatter) blocks_of_result();
    if (d.chance(30)) c.own = in_place::flag_and_null;
    for (auto* const table : {&c.dst_table, &c.src_table}) {
      if (table == &c.src_table && c.own != in_place::no) break;
      table->resize(T);
      const std::uint64_t begin = space.take(8 * T + c.nelems * c.of->size, 16, d);
      for (const std::uint32_t t : m)
        (*table)[t] = {begin + 8 * d.below(T + 1), t, 0};
    }
  }

  // Equal ones, or some of a few sizes.
  void blocks_of_result() {
    const std::uint64_t each = c.nelems / m.size();
    if (each != 0 && d.chance(50)) c.blk_size = each;
    for (std::size_t k = 0; k != m.size(); ++k)
      c.sizes.push_back(c.blk_size != 0 ? each : d.chance(20) ? 0 : d.below(each + 2));
    c.nelems = std::accumulate(c.sizes.begin(), c.sizes.end(), std::uint64_t{0});
  }

  // By row, from whom, and column, to whom; no block where the call has none.
  void unequal() {
    c.in = c.out = sync::my;
    c.async = d.chance(50);
    c.hints = 0;
    c.root = d.below(m.size());
    const std::uint64_t most = std::min<std::uint64_t>(d.chance(70) ? 300 : 30000, limits.largest);
    c.sizes.assign(T * T, 0);
    c.src_table.assign(T * T, {});
    c.dst_table.assign(T * T, {});
    const bool rooted = c.what >= kind::team_gatherv, gather = c.what == kind::team_gatherv;
    const bool one_source = gather || c.what == kind::team_allgatherv;
    if (c.what != kind::team_alltoallv && d.chance(30)) c.own = in_place::root_block;
    for (const std::uint32_t i : m) {
      std::uint64_t bytes = 0, from = 0;
      bool drawn = false;
      for (const std::uint32_t j : m) {
        if (rooted && (gather ? j : i) != m[c.root]) continue;
        if (!std::exchange(drawn, one_source)) {
          bytes = d.chance(25) ? 0 : d.chance(10) ? d.below(most + 1) : d.below(most / 8 + 2);
          if (space.end() + 3 * bytes * m.size() + 4 * page > room) bytes %= 60;
          from = space.take(bytes, 1, d);
        }
        c.sizes[i * T + j] = bytes;
        c.src_table[i * T + j] = {from, i, 0};
        c.dst_table[i * T + j] = {space.take(bytes, 1, d), j, 0};
      }
      if (c.own != in_place::no && (!rooted || i == m[c.root])) own_block_stays(i);
    }
  }
  void own_block_stays(std::uint32_t i) {
    place &from = c.src_table[i * T + i], &to = c.dst_table[i * T + i];
    if (c.what == kind::team_scatterv)
      to = from;
    else
      for (const std::uint32_t j : m)
        if (c.what == kind::team_allgatherv || j == i) c.src_table[i * T + j].offset = to.offset;
  }

  void regular() {
    c.nbytes = block_size();
    const std::uint64_t n = c.nbytes, all = n * m.size();
    const bool many_from = c.what == kind::scatter || is_exchange(),
               many_to = c.what != kind::broadcast && c.what != kind::scatter && c.what != kind::permute;
    c.dst = {space.take(many_to ? all : n, 1, d), m[0], phase()};
    c.src = {0, m[0], phase()};
    if (c.what == kind::broadcast || c.what == kind::scatter) c.src.thread = root();
    if (c.what == kind::gather) c.dst.thread = root();
    if (!is_cray(c.what) && !c.one_sided() && in_place())
      own_place();
    else
      c.src.offset = space.take(many_from ? all : n, 1, d);
    if (c.one_sided()) one_sided_place();
    if (c.what == kind::permute) {
      c.perm = permutation(m.size());
      c.perm_at = space.take(sizeof(int), 8, d);
    }
  }

private:
  static constexpr std::uint64_t page = 4096;
  std::uint32_t any_thread() { return static_cast<std::uint32_t>(d.below(T)); }
  std::size_t threads_of_arrays() const { return c.one_sided() ? m.size() : T; }

  place first_element() {
    if (c.one_sided() && c.spelling == form::plain) return {0, 0, 0};
    const auto phase = static_cast<std::uint32_t>(c.blk_size == 0 ? 0 : d.below(c.blk_size));
    return {0, d.pick(m), phase};
  }
  void take_array(place& first) {
    const std::uint64_t bytes = array::extent(c, first.phase, threads_of_arrays());
    first.offset = space.take(bytes, c.of->alignment, d) + first.phase * c.of->size;
  }
  void destination() {
    if (c.what == kind::sort) {
      c.dst = c.src;
      c.own = in_place::flag_and_same;
    } else if (is_prefix(c.what)) {
      c.dst = c.src;
      if (!c.one_sided() && d.chance(25)) {
        c.own = d.chance(50) ? in_place::flag_and_null : in_place::flag_and_same;
        return;
      }
      if (d.chance(40) && threads_of_arrays() == m.size()) c.dst = first_element();
      take_array(c.dst);
    } else {
      c.dst = {space.take(c.of->size, c.of->alignment, d), c.what == kind::reduce ? d.pick(m) : m[0], 0};
      if (c.one_sided()) c.dst.thread = any_thread();
    }
  }
  // So many threads from this one on are members.
  std::uint64_t neighbours(std::uint32_t first) const {
    std::uint64_t all = 0;
    while (member((first + static_cast<std::uint32_t>(all)) % T))
      ++all;
    return all;
  }

  bool is_exchange() const { return c.what == kind::exchange || is_cray(c.what); }
  std::uint32_t phase() { return static_cast<std::uint32_t>(d.chance(50) ? 0 : d.below(9)); }
  void own_place() {
    const std::uint64_t n = c.nbytes;
    c.own = in_place::root_block;
    switch (c.what) {
    case kind::broadcast:
      c.src.offset = c.dst.offset;
      break;
    case kind::scatter: // the root's source lies around its destination, which was taken alone
      c.src.offset = space.take(n * m.size(), 1, d);
      c.dst.offset = c.src.offset + rank_of(c.src.thread) * n;
      break;
    case kind::gather:
      c.src.offset = c.dst.offset + rank_of(c.dst.thread) * n;
      break;
    default:
      c.own = any_reading();
      c.src = c.dst;
      break;
    }
  }
};

} // namespace

call draw_call(kind what, std::size_t team, const scenario& s, const settings& limits, symmetric_space& space,
               dice& d, bool small) {
  call c;
  c.what = what;
  c.team = team;
  drawing all{c, s.teams[team], limits, limits.threads, limits.room, space, d, small};
  drawer draw(all);
  if (limits.one_sided)
    draw.one_sided(team >= s.known);
  else if (is_cray(what))
    draw.cray_modes();
  else
    draw.modes();
  if (is_x(what))
    draw_x(all);
  else if (is_array(what))
    draw.arrays();
  else if (is_vector(what))
    draw.vectors();
  else if (is_unequal(what))
    draw.unequal();
  else
    draw.regular();
  return c;
}

void draw_places(call& c, const members& team, const settings& limits, symmetric_space& space, dice& d) {
  drawing all{c, team, limits, limits.threads, limits.room, space, d, false};
  if (is_x(c.what))
    draw_x(all);
  else
    drawer(all).regular();
}

} // namespace calls
