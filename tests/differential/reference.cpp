#include "tests/differential/reference.hpp"

namespace differential {

namespace {

class recorder {
public:
  recorder(const call& c, const members& team, std::uint32_t threads) : c(c), m(team), T(threads) {}

  std::vector<copy> all() {
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
    }
    return std::move(copies);
  }

private:
  std::uint64_t source() const { return c.in_own_place() ? c.dst.offset : c.src.offset; }
  const std::vector<place>& sources() const { return c.in_own_place() ? c.dst_table : c.src_table; }

  void add(std::uint32_t from_thread, std::uint64_t from, std::uint32_t to_thread, std::uint64_t to,
           std::uint64_t bytes) {
    if (bytes != 0) copies.push_back({from_thread, from, to_thread, to, bytes});
  }
  void add(const place& from, const place& to, std::uint64_t bytes) {
    add(from.thread, from.offset, to.thread, to.offset, bytes);
  }

  const call& c;
  const members& m;
  const std::size_t T;
  const std::uint64_t n = c.nbytes;
  std::vector<copy> copies;
};

} // namespace

std::vector<copy> copies_of(const call& c, const members& team, std::uint32_t threads) {
  return recorder(c, team, threads).all();
}

} // namespace differential
