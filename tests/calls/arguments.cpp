#include "tests/calls/arguments.hpp"

#include "tests/calls/array.hpp"
#include "tests/calls/elements.hpp"

#include <algorithm>
#include <numeric>
#include <upc.h>

namespace calls {

namespace {

constexpr std::uint64_t page = 4096, mebi = default_largest;

std::uint64_t draw_size(dice& d, bool small, std::uint64_t largest) {
  if (largest != mebi)
    return d.chance(8)    ? 0
           : d.chance(50) ? 1 + d.below(std::min<std::uint64_t>(200, largest))
                          : 1 + d.below(largest);
  const std::size_t roll = d.below(1000);
  if (roll < 80) return 0;
  if (roll < 200) return 1;
  if (small || roll < 550) return 2 * d.below(150) + 3;
  if (roll < 650) return 2 * d.between(900, 1100) + 1;
  if (roll < 870) return page;
  if (roll < 920) return page + 1 - 2 * d.below(2);
  if (roll < 997) return d.between(page, 40 * page);
  return mebi;
}

class drawer {
public:
  drawer(call& c, const members& team, const settings& limits, symmetric_space& space, dice& d, bool small)
      : c(c), m(team), limits(limits), T(limits.threads), room(limits.room), space(space), d(d),
        small(small) {}

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
    c.nelems = d.chance(5) ? 0
                           : 1 + d.below(std::min(most + 1, small                    ? 60
                                                            : limits.largest != mebi ? most + 1
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
    if (d.chance(30)) c.own = in_place::flag_and_null;
    for (auto* const table : {&c.dst_table, &c.src_table}) {
      if (table == &c.src_table && c.own != in_place::no) break;
      table->resize(T);
      const std::uint64_t begin = space.take(8 * T + c.nelems * c.of->size, 16, d);
      for (const std::uint32_t t : m)
        (*table)[t] = {begin + 8 * d.below(T + 1), t, 0};
    }
  }

  void regular() {
    c.nbytes = fitting_size();
    const std::uint64_t n = c.nbytes, all = n * m.size();
    const bool many_from = c.what == kind::scatter || is_exchange(),
               many_to = c.what != kind::broadcast && c.what != kind::scatter && c.what != kind::permute;
    c.dst = {space.take(many_to ? all : n, 1, d), m[0], phase()};
    c.src = {0, m[0], phase()};
    if (c.what == kind::broadcast || c.what == kind::scatter) c.src.thread = d.pick(m);
    if (c.what == kind::gather) c.dst.thread = d.pick(m);
    if (!is_cray(c.what) && !c.one_sided() && d.chance(limits.own_place_percent))
      own_place();
    else
      c.src.offset = space.take(many_from ? all : n, 1, d);
    if (c.one_sided()) one_sided_place();
    if (c.what == kind::permute) {
      c.perm = permutation(m.size());
      c.perm_at = space.take(sizeof(int), 8, d);
    }
  }

  void indirect() {
    c.src_at = take_array(sizeof(upc_shared_ptr_t), c.what == kind::exchange_x);
    c.dst_at =
        take_array(sizeof(upc_shared_ptr_t), c.what == kind::exchange_x || c.what == kind::gather_all_x);
    c.sizes_at = take_array(sizeof(std::size_t), c.what == kind::exchange_x);
    switch (c.what) {
    case kind::broadcast_x:
      broadcast_x();
      break;
    case kind::scatter_x:
    case kind::gather_x:
      rooted_x();
      break;
    case kind::gather_all_x:
      gather_all_x();
      break;
    case kind::exchange_x:
      exchange_x();
      break;
    default:
      permute_x();
      break;
    }
  }

private:
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

  // Small enough for all the blocks of the largest operation.
  std::uint64_t fitting_size() {
    const std::uint64_t n = draw_size(d, small, limits.largest),
                        blocks = 2 * m.size() * (is_x(c.what) ? m.size() : 1);
    return space.end() + blocks * (n + 128) + page < room ? n : n % 251;
  }

  std::uint64_t take_array(std::size_t element, bool matrix) {
    return space.take(element * (matrix ? T : 1), 8, d);
  }

  std::vector<std::uint64_t> permutation(std::size_t n) {
    std::vector<std::uint64_t> p(n);
    std::iota(p.begin(), p.end(), std::uint64_t{0});
    if (d.chance(20)) return p;
    if (d.chance(25))
      std::rotate(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(d.below(n)), p.end());
    else
      d.shuffle(p);
    return p;
  }

  in_place any_reading() {
    static constexpr in_place readings[] = {in_place::flag_and_null, in_place::flag_and_same,
                                            in_place::instead_of_source};
    return d.pick(readings);
  }

  std::size_t rank_of(std::uint32_t thread) const {
    return static_cast<std::size_t>(std::find(m.begin(), m.end(), thread) - m.begin());
  }

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

  // What stands in the elements of threads that are no members: nobody may look at it.
  place ignored(std::uint32_t thread) {
    place p{d.below(trap_bytes / 2), thread, 0};
    p.null = d.chance(30);
    return p;
  }
  std::uint64_t ignored_size() { return d.below(trap_bytes / 2); }

  bool member(std::uint32_t thread) const { return std::find(m.begin(), m.end(), thread) != m.end(); }

  // Tables of blocks of `threads_of(index)`, with all of them still without a place.
  std::vector<place> table(bool matrix) {
    std::vector<place> all(matrix ? T * T : T);
    for (std::uint32_t i = 0; i != all.size(); ++i) {
      const std::uint32_t owner = matrix ? i / T : i;
      const bool used = member(owner) && (!matrix || member(i % T));
      all[i] = used ? place{0, owner, phase()} : ignored(owner);
    }
    return all;
  }
  std::vector<std::uint64_t> size_table(bool matrix) {
    std::vector<std::uint64_t> all(matrix ? T * T : T);
    for (std::uint32_t i = 0; i != all.size(); ++i) {
      const bool used = member(matrix ? i / T : i) && (!matrix || member(i % T));
      all[i] = used ? fitting_size() : ignored_size();
    }
    return all;
  }
  // The pointers of an empty block may be null.
  void forget_empty(place& p, std::uint64_t bytes) {
    if (bytes == 0 && d.chance(50)) p = {0, 0, 0, true};
  }

  void broadcast_x() {
    c.nbytes = fitting_size();
    c.src = {0, d.pick(m), phase()};
    c.dst_table = table(false);
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m)
      blocks.want(c.dst_table[t], c.nbytes);
    const bool own = d.chance(limits.own_place_percent);
    if (!own) blocks.want(c.src, c.nbytes);
    blocks.settle(space, d);
    if (!own) return;
    c.own = in_place::root_block;
    c.src = c.dst_table[c.src.thread];
  }

  void rooted_x() {
    const std::uint32_t root = d.pick(m);
    c.src_table = table(false);
    c.dst_table = table(false);
    c.sizes = size_table(false);
    auto& at_root = c.what == kind::scatter_x ? c.src_table : c.dst_table;
    for (const std::uint32_t t : m)
      at_root[t].thread = root;
    const bool own = d.chance(limits.own_place_percent);
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m) {
      if (!own || t != root) blocks.want(c.src_table[t], c.sizes[t]);
      blocks.want(c.dst_table[t], c.sizes[t]);
    }
    blocks.settle(space, d);
    if (own) {
      c.own = in_place::root_block;
      c.src_table[root] = c.dst_table[root];
    }
    for (const std::uint32_t t : m) {
      if (own && t == root) continue;
      forget_empty(c.src_table[t], c.sizes[t]);
      forget_empty(c.dst_table[t], c.sizes[t]);
    }
  }

  void gather_all_x() {
    c.src_table = table(false);
    c.dst_table = table(true);
    c.sizes = size_table(false);
    if (d.chance(limits.own_place_percent)) c.own = any_reading();
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m) {
      if (!c.in_own_place()) blocks.want(c.src_table[t], c.sizes[t]);
      for (const std::uint32_t i : m)
        blocks.want(c.dst_table[t * T + i], c.sizes[i]);
    }
    blocks.settle(space, d);
    for (const std::uint32_t t : m) {
      forget_empty(c.src_table[t], c.sizes[t]);
      for (const std::uint32_t i : m)
        forget_empty(c.dst_table[t * T + i], c.sizes[i]);
    }
    if (c.in_own_place()) c.src_table.clear();
  }

  void exchange_x() {
    c.src_table = table(true);
    c.dst_table = table(true);
    c.sizes = size_table(true);
    if (d.chance(limits.own_place_percent)) c.own = any_reading();
    // In place a block makes room for the one that comes back, which may be longer.
    const auto bytes = [&](std::size_t from, std::size_t to) { return c.sizes[from * T + to]; };
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m)
      for (const std::uint32_t i : m) {
        if (!c.in_own_place()) blocks.want(c.src_table[t * T + i], bytes(t, i));
        blocks.want(c.dst_table[t * T + i],
                    c.in_own_place() ? std::max(bytes(t, i), bytes(i, t)) : bytes(i, t));
      }
    blocks.settle(space, d);
    for (const std::uint32_t t : m)
      for (const std::uint32_t i : m) {
        forget_empty(c.src_table[t * T + i], bytes(t, i));
        forget_empty(c.dst_table[t * T + i], c.in_own_place() ? bytes(t, i) + bytes(i, t) : bytes(i, t));
      }
    if (c.in_own_place()) c.src_table.clear();
  }

  void permute_x() {
    c.src_table = table(false);
    c.dst_table = table(false);
    c.sizes = size_table(false);
    c.perm_at = take_array(sizeof(std::uint64_t), false);
    c.perm.assign(T, 0);
    const std::vector<std::uint64_t> p = permutation(m.size());
    std::vector<std::uint64_t> arriving(T, 0);
    for (std::size_t r = 0; r != m.size(); ++r) {
      c.perm[m[r]] = m[p[r]];
      arriving[m[p[r]]] = c.sizes[m[r]];
    }
    for (std::uint32_t t = 0; t != T; ++t)
      if (!member(t)) c.perm[t] = d.below(T + 3);
    if (d.chance(limits.own_place_percent)) c.own = any_reading();
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m) {
      if (!c.in_own_place()) blocks.want(c.src_table[t], c.sizes[t]);
      blocks.want(c.dst_table[t], c.in_own_place() ? std::max(c.sizes[t], arriving[t]) : arriving[t]);
    }
    blocks.settle(space, d);
    for (const std::uint32_t t : m) {
      forget_empty(c.src_table[t], c.sizes[t]);
      forget_empty(c.dst_table[t], c.in_own_place() ? c.sizes[t] + arriving[t] : arriving[t]);
    }
    if (c.in_own_place()) c.src_table.clear();
  }

  call& c;
  const members& m;
  const settings& limits;
  const std::uint32_t T;
  const std::uint64_t room;
  symmetric_space& space;
  dice& d;
  const bool small;
};

} // namespace

call draw_call(kind what, std::size_t team, const scenario& s, const settings& limits, symmetric_space& space,
               dice& d, bool small) {
  call c;
  c.what = what;
  c.team = team;
  drawer draw(c, s.teams[team], limits, space, d, small);
  if (limits.one_sided)
    draw.one_sided(team >= s.known);
  else if (is_cray(what))
    draw.cray_modes();
  else
    draw.modes();
  if (is_x(what))
    draw.indirect();
  else if (is_array(what))
    draw.arrays();
  else if (is_vector(what))
    draw.vectors();
  else
    draw.regular();
  return c;
}

} // namespace calls
