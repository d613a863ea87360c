// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/reference.hpp"

#include "tests/calls/array.hpp"

#include <map>
#include <numeric>

namespace calls {

namespace {

class recorder {
public:
  recorder(const call& c, const members& team, std::uint32_t threads) : c(c), m(team), T(threads) {}

  effects all() {
    if (is_array(c.what))
      compute();
    else if (is_vector(c.what))
      combine();
    else
      move();
    return std::move(found);
  }

private:
  void move() {
    switch (c.what) {
    case kind::broadcast:
      for (const std::uint32_t t : m)
        add(c.src.thread, c.src.offset, t, c.dst.offset, n);
      break;
    case kind::scatter:
      for (std::size_t i = 0; i != m.size(); ++i)
        add(c.src.thread, c.src.offset + i * n, m[i], c.dst.offset, n);
      break;
    case kind::gather:
      for (std::size_t i = 0; i != m.size(); ++i)
        add(m[i], c.src.offset, c.dst.thread, c.dst.offset + i * n, n);
      break;
    case kind::gather_all:
      for (std::size_t i = 0; i != m.size(); ++i)
        for (const std::uint32_t t : m)
          add(m[i], c.in_own_place() ? c.dst.offset + i * n : c.src.offset, t, c.dst.offset + i * n, n);
      break;
    case kind::exchange:
    case kind::alltoall:
    case kind::alltoall_nb:
    case kind::alltoall_nbi:
      for (std::size_t i = 0; i != m.size(); ++i)
        for (std::size_t j = 0; j != m.size(); ++j)
          add(m[j], source() + i * n, m[i], c.dst.offset + j * n, n);
      break;
    case kind::permute:
      for (std::size_t i = 0; i != m.size(); ++i)
        add(m[i], source(), m[c.perm[i]], c.dst.offset, n);
      break;
    case kind::broadcast_x:
      for (const std::uint32_t t : m)
        add(c.src, c.dst_table[t], n);
      break;
    case kind::scatter_x:
    case kind::gather_x:
      for (const std::uint32_t t : m)
        add(c.src_table[t], c.dst_table[t], c.sizes[t]);
      break;
    case kind::gather_all_x:
      for (const std::uint32_t t : m)
        for (const std::uint32_t i : m)
          add(c.in_own_place() ? c.dst_table[i * T + i] : c.src_table[i], c.dst_table[t * T + i], c.sizes[i]);
      break;
    case kind::exchange_x:
      for (const std::uint32_t i : m)
        for (const std::uint32_t j : m)
          add(sources()[j * T + i], c.dst_table[i * T + j], c.sizes[j * T + i]);
      break;
    case kind::permute_x:
    case kind::permute_xi:
      for (const std::uint32_t i : m)
        add(sources()[i], c.dst_table[c.perm[i]], c.sizes[i]);
      break;
    case kind::team_alltoallv:
    case kind::team_allgatherv:
    case kind::team_gatherv:
    case kind::team_scatterv:
      for (const std::uint32_t i : m)
        for (const std::uint32_t j : m)
          add(c.src_table[i * T + j], c.dst_table[i * T + j], c.sizes[i * T + j]);
      break;
    default:
      break;
    }
    std::sort(found.sources.begin(), found.sources.end(), before);
    const auto same = [](const block& a, const block& b) { return !before(a, b) && !before(b, a); };
    found.sources.erase(std::unique(found.sources.begin(), found.sources.end(), same), found.sources.end());
  }
  static bool before(const block& a, const block& b) {
    return std::tie(a.thread, a.offset, a.bytes) < std::tie(b.thread, b.offset, b.bytes);
  }

  void compute() {
    if (c.nelems == 0) return;
    const std::uint64_t size = c.of->size;
    std::vector<std::byte> all(c.nelems * size);
    for (std::uint64_t i = 0; i != c.nelems; ++i)
      c.of->put(all.data() + i * size, c, 0, i);
    place first = c.src;
    if (c.own != in_place::no) first = c.dst;
    for (block& b : laid_out(first, all, 0))
      found.sources.push_back(std::move(b));
    c.of->compute(all.data(), nullptr, c);
    const std::vector<std::byte> last(all.end() - static_cast<std::ptrdiff_t>(size), all.end());
    if (c.what == kind::reduce) arrive({c.dst.thread, c.dst.offset, size, last});
    for (const std::uint32_t t : m)
      if (c.what == kind::reduce_all) arrive({t, c.dst.offset, size, last});
    if (c.what == kind::exclusive_prefix) // in front of the first element is nothing
      all.insert(all.begin(), size, std::byte{0});
    for (block& b : laid_out(c.dst, all, c.what == kind::exclusive_prefix ? 1 : 0))
      if (is_prefix(c.what) || c.what == kind::sort) arrive(std::move(b));
  }
  // Elements of an array from one on: what each thread has of them, which lies together.
  std::vector<block> laid_out(const place& at, const std::vector<std::byte>& all, std::uint64_t first) const {
    members over = m;
    if (!c.one_sided()) {
      over.resize(T);
      std::iota(over.begin(), over.end(), 0u);
    }
    const array a(c, at, over);
    std::map<std::uint32_t, block> parts;
    for (std::uint64_t i = first; i < c.nelems; ++i) {
      const spot here = a.at(i);
      block& part = parts.try_emplace(here.thread, block{here.thread, here.offset, 0, {}}).first->second;
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(i * c.of->size);
      part.value.insert(part.value.end(), from, from + static_cast<std::ptrdiff_t>(c.of->size));
      part.bytes += c.of->size;
    }
    std::vector<block> list;
    for (auto& [thread, part] : parts)
      list.push_back(std::move(part));
    return list;
  }

  void combine() {
    if (c.nelems == 0) return;
    const std::uint64_t bytes = c.nelems * c.of->size;
    std::vector<std::byte> all;
    for (const std::uint32_t t : m) {
      const place& at = (c.own == in_place::no ? c.src_table : c.dst_table)[t];
      block b{t, at.offset, bytes, std::vector<std::byte>(bytes)};
      for (std::uint64_t i = 0; i != c.nelems; ++i)
        c.of->put(b.value.data() + i * c.of->size, c, t, i);
      const std::uint64_t to = c.dst_table[t].offset;
      if (c.what == kind::team_exscan && !all.empty()) arrive({t, to, bytes, all});
      if (all.empty())
        all = b.value;
      else
        c.of->compute(all.data(), b.value.data(), c);
      if (c.what == kind::team_scan) arrive({t, to, bytes, all});
      found.sources.push_back(std::move(b));
    }
    auto next = all.begin();
    for (std::size_t rank = 0; rank != m.size(); ++rank) {
      const std::uint64_t to = c.dst_table[m[rank]].offset;
      if (c.what == kind::team_allreduce || (c.what == kind::team_reduce && rank == c.root))
        arrive({m[rank], to, bytes, all});
      if (c.what != kind::team_reduce_scatter || c.sizes[rank] == 0) continue;
      const auto end = next + static_cast<std::ptrdiff_t>(c.sizes[rank] * c.of->size);
      arrive({m[rank], to, c.sizes[rank] * c.of->size, std::vector<std::byte>(next, end)});
      next = end;
    }
  }

  void arrive(block b) { found.arrivals.push_back({std::move(b), 0, 0}); }
  std::uint64_t source() const { return c.in_own_place() ? c.dst.offset : c.src.offset; }
  const std::vector<place>& sources() const { return c.in_own_place() ? c.dst_table : c.src_table; }

  void add(std::uint32_t from_thread, std::uint64_t from, std::uint32_t to_thread, std::uint64_t to,
           std::uint64_t bytes) {
    if (bytes == 0) return;
    found.sources.push_back({from_thread, from, bytes, {}});
    found.arrivals.push_back({{to_thread, to, bytes, {}}, from_thread, from});
  }
  void add(const place& from, const place& to, std::uint64_t bytes) {
    add(from.thread, from.offset, to.thread, to.offset, bytes);
  }

  const call& c;
  const members& m;
  const std::size_t T;
  const std::uint64_t n = c.nbytes;
  effects found;
};

} // namespace

effects effects_of(const call& c, const members& team, std::uint32_t threads) {
  return recorder(c, team, threads).all();
}

} // namespace calls
