// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/drawing.hpp"

#include <numeric>

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

} // namespace

std::uint64_t drawing::fitting_size() {
  const std::uint64_t n = draw_size(d, small, limits.largest),
                      blocks = 2 * m.size() * (is_x(c.what) ? m.size() : 1);
  return space.end() + blocks * (n + 128) + page < room ? n : n % 251;
}

std::vector<std::uint64_t> drawing::permutation(std::size_t n) {
  std::vector<std::uint64_t> p(n);
  std::iota(p.begin(), p.end(), std::uint64_t{0});
  if (d.chance(20)) return p;
  if (d.chance(25))
    std::rotate(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(d.below(n)), p.end());
  else
    d.shuffle(p);
  return p;
}

calls::in_place drawing::any_reading() {
  using calls::in_place;
  if (limits.fixed) return in_place::flag_and_same;
  static constexpr in_place readings[] = {in_place::flag_and_null, in_place::flag_and_same,
                                          in_place::instead_of_source};
  return d.pick(readings);
}

namespace {

class drawer : drawing {
public:
  explicit drawer(const drawing& from) : drawing(from) {}

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
  std::uint64_t take_array(std::size_t element, bool matrix) {
    return space.take(element * (matrix ? T : 1), 8, d);
  }

  // What stands in the elements of threads that are no members: no rank may look at it.
  place ignored(std::uint32_t thread) {
    place p{d.below(trap_bytes / 2), thread, 0};
    p.null = d.chance(30);
    return p;
  }
  std::uint64_t ignored_size() { return d.below(trap_bytes / 2); }

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
    c.nbytes = block_size();
    c.src = {0, root(), phase()};
    c.dst_table = table(false);
    scattered_blocks blocks(T);
    for (const std::uint32_t t : m)
      blocks.want(c.dst_table[t], c.nbytes);
    const bool own = drawing::in_place();
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
    const bool own = drawing::in_place();
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
    if (drawing::in_place()) c.own = any_reading();
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
    if (drawing::in_place()) c.own = any_reading();
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
    if (drawing::in_place()) c.own = any_reading();
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
};

} // namespace

void draw_x(drawing& from) {
  drawer(from).indirect();
}

} // namespace calls
