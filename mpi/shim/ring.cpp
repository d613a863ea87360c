// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/ring.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::mpi {

std::uint64_t ring::take(std::uint64_t length, std::uint64_t window) {
  const std::uint64_t used = std::min(size, window);
  if (next % size + length > used) next += size - next % size;
  return std::exchange(next, next + length);
}

bool ring::fits(const piece& p) {
  const auto there_is_room = [&] { return live.empty() || p.begin + p.length - live.front().begin <= size; };
  if (there_is_room()) return true;
  drop();
  return there_is_room();
}

// What is not needed any more, by the words too.
void ring::drop() {
  if (!live.empty() && live.front().lent && live.front().end > read_by_all) {
    read_by_all = read;
    for (const std::atomic<std::uint64_t>* const word : words)
      read_by_all = std::min(read_by_all, word->load(std::memory_order_acquire));
  }
  while (!live.empty() && live.front().done && (!live.front().lent || live.front().end <= read_by_all))
    live.pop_front();
}

void piece::begin_again() {
  const piece was = *this;
  *this = {.from = was.from,
           .bytes = was.bytes,
           .lent = was.lent,
           .found = was.found,
           .shared = was.shared,
           .in = was.in,
           .window = was.window,
           .length = was.length};
  if (in == nullptr) return;
  begin = in->take(length, window);
  at = in->place(begin);
  given = at + (was.given - was.at);
  got = at + (was.got - was.at);
}

void ring::leave(const piece& p) {
  const auto begins = [](const extent& e, std::uint64_t position) { return e.begin < position; };
  auto at = live.begin(); // mostly the first
  if (at->begin != p.begin) at = std::lower_bound(at, live.end(), p.begin, begins);
  at->done = true;
  const bool is_next = at == live.begin() || std::prev(at)->end == read;
  for (; is_next && at != live.end() && at->done; ++at)
    read = at->end;
  drop();
}

} // namespace weft::mpi
