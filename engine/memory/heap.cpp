// SPDX-License-Identifier: BSD-3-Clause
#include "engine/memory/heap.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::engine {

heap::heap(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {
  if (begin < end) free_.emplace(begin, end - begin);
}

std::uint64_t heap::whole(std::uint64_t bytes) {
  return std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
}

std::uint64_t heap::allocate(std::uint64_t bytes) {
  if (bytes > end_) return 0; // also keeps the rounding from overflowing
  const std::uint64_t wanted = whole(bytes);
  const auto fit =
      std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= wanted; });
  if (fit == free_.end()) return 0;
  const std::uint64_t offset = fit->first;
  used_.emplace(offset, bytes); // all that may throw
  auto rest = free_.extract(fit);
  if (rest.mapped() > wanted) {
    rest.key() += wanted;
    rest.mapped() -= wanted;
    free_.insert(std::move(rest));
  }
  return offset;
}

bool heap::free(std::uint64_t offset) noexcept {
  const auto found = used_.find(offset);
  if (found == used_.end()) return false;
  found->second = whole(found->second);
  const auto at = free_.insert(used_.extract(found)).position;
  if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
  return true;
}

heap::block heap::block_below(std::uint64_t offset) const {
  const auto behind = used_.upper_bound(offset);
  if (behind == used_.begin()) return {};
  const auto [begin, bytes] = *std::prev(behind);
  return {begin, bytes};
}

std::uint64_t heap::block_of(std::uint64_t offset) const {
  const auto [begin, bytes] = block_below(offset);
  return offset - begin < whole(bytes) ? begin : 0;
}

std::uint64_t heap::largest() const {
  std::uint64_t most = 0;
  for (const auto& [offset, bytes] : free_)
    most = std::max(most, bytes);
  return most;
}

} // namespace weft::engine
