// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/tables.hpp"

#include <algorithm>
#include <cstring>

namespace calls {

namespace {

template <class T> void append(std::vector<std::uint8_t>& bytes, const T& value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

class writer {
public:
  writer(const call& c, const members& team, std::uint32_t thread, std::uint64_t base, bool poisoned)
      : c(c), team(team), thread(thread), base(base), poisoned(poisoned) {}

  std::vector<row> all() {
    if (is_x(c.what)) {
      pointers(c.dst_at, c.dst_table);
      pointers(c.src_at, c.src_table);
      sizes();
    }
    if (!c.perm.empty()) permutation();
    return std::move(rows);
  }

private:
  // The part of an array with one element, or a row of them, on every thread.
  template <class T> std::pair<std::size_t, std::size_t> part(const std::vector<T>& array) const {
    const void* const which = &array;
    const bool matrix = c.what == kind::exchange_x || (c.what == kind::gather_all_x && which == &c.dst_table);
    std::size_t width = 1;
    while (matrix && width * width != array.size())
      ++width;
    return {thread * width, (thread + 1) * width};
  }

  upc_shared_ptr_t pointer(const place& p) const {
    return p.null ? UPC_SHARED_NULL : upc_shared_ptr_t{base + p.offset, p.thread, p.phase};
  }

  void pointers(std::uint64_t at, const std::vector<place>& table) {
    if (table.empty()) return;
    row r{at, {}};
    const auto [first, last] = part(table);
    for (std::size_t i = first; i != last; ++i)
      append(r.bytes, pointer(poisoned ? place{7, table[i].thread, 0} : table[i]));
    rows.push_back(std::move(r));
  }

  void sizes() {
    if (c.sizes.empty()) return;
    row r{c.sizes_at, {}};
    const auto [first, last] = part(c.sizes);
    for (std::size_t i = first; i != last; ++i)
      append(r.bytes, std::size_t{poisoned ? 19 : c.sizes[i]});
    rows.push_back(std::move(r));
  }

  // With a team, V1.0's is indexed by team rank, and lies on the threads of the ranks.
  void permutation() {
    std::size_t index = thread;
    if (c.what == kind::permute) {
      index = static_cast<std::size_t>(std::find(team.begin(), team.end(), thread) - team.begin());
      if (index == team.size()) return;
    }
    row r{c.perm_at, {}};
    const std::uint64_t value = poisoned ? index : c.perm[index];
    if (c.what == kind::permute_x)
      append(r.bytes, static_cast<std::size_t>(value));
    else
      append(r.bytes, static_cast<int>(value));
    rows.push_back(std::move(r));
  }

  const call& c;
  const members& team;
  const std::uint32_t thread;
  const std::uint64_t base;
  const bool poisoned;
  std::vector<row> rows;
};

} // namespace

std::vector<row> rows_of(const call& c, const members& team, std::uint32_t thread, std::uint64_t base) {
  return writer(c, team, thread, base, false).all();
}
std::vector<row> poisoned_rows_of(const call& c, const members& team, std::uint32_t thread,
                                  std::uint64_t base) {
  return writer(c, team, thread, base, true).all();
}

} // namespace calls
