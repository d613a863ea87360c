// SPDX-License-Identifier: BSD-3-Clause
#include "api/one_sided/carried_by_caller.hpp"

#include "api/calls/copies.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace weft::api {

namespace {

// So much of a source stays in the cache while it goes to all destinations.
constexpr std::size_t at_once = 64 * 1024;

} // namespace

std::byte* carried_by_caller::memory(upc_shared_ptr_t p) const {
  if (std::byte* const there = rt_.cast(p.thread, p.addr, is_.bytes)) return there;
  return static_cast<std::byte*>(rt_.direct(p.thread, p.addr));
}

void carried_by_caller::move(upc_shared_ptr_t to, upc_shared_ptr_t from) {
  if (to.thread == from.thread && to.addr == from.addr) return;
  std::byte* const there = memory(to);
  const std::byte* const here = memory(from);
  if (there != nullptr && here != nullptr) {
    std::memcpy(there, here, is_.bytes);
    return;
  }
  const auto before = std::exchange(last_, far_move{to, from});
  if (!before) return;
  if (const handle h = begin_copy(rt_, call_, before->to, before->from, is_.bytes)) begun_.push_back(h);
}

void carried_by_caller::finish() {
  std::exception_ptr failed; // told when nothing of this call is under way any more
  try {
    if (const auto last = std::exchange(last_, {})) copy(rt_, last->to, last->from, is_.bytes);
  } catch (...) {
    failed = std::current_exception();
  }
  complete_all(rt_, std::exchange(begun_, {}));
  if (failed) std::rethrow_exception(failed);
}

void carried_by_caller::swap(upc_shared_ptr_t a, upc_shared_ptr_t b) const {
  std::byte *const one = memory(a), *const other = memory(b);
  if (one != nullptr && other != nullptr) {
    std::swap_ranges(one, one + is_.bytes, other);
    return;
  }
  std::vector<std::byte> first(is_.bytes), second(is_.bytes);
  rt_.get(first.data(), a.thread, a.addr, is_.bytes);
  rt_.get(second.data(), b.thread, b.addr, is_.bytes);
  rt_.put(a.thread, a.addr, second.data(), is_.bytes);
  rt_.put(b.thread, b.addr, first.data(), is_.bytes);
}

void carried_by_caller::broadcast() {
  const std::byte* const from = memory(is_.src);
  const auto place = [&](std::uint32_t k) {
    const bool stays = who_[k] == is_.src.thread && is_.in_place;
    return stays || from == nullptr ? nullptr : memory(block(is_.dst, 0, who_[k]));
  };
  for (std::size_t at = 0; at < is_.bytes; at += at_once)
    for (std::uint32_t k = 0; k < who_.size(); ++k)
      if (std::byte* const to = place(k)) std::memcpy(to + at, from + at, std::min(at_once, is_.bytes - at));
  for (std::uint32_t k = 0; k < who_.size(); ++k)
    if (from == nullptr || memory(block(is_.dst, 0, who_[k])) == nullptr)
      move(block(is_.dst, 0, who_[k]), is_.src);
}

// The root's own block comes last: in place it is written where the first one was.
void carried_by_caller::scatter() {
  const std::uint32_t root = who_.place_of(is_.src.thread);
  for (std::uint32_t k = 0; k < who_.size(); ++k)
    if (k != root) move(block(is_.dst, 0, who_[k]), block(is_.src, k));
  if (is_.in_place) finish();
  if (root < who_.size()) move(block(is_.dst, 0, who_[root]), block(is_.src, root));
}

// And here first.
void carried_by_caller::gather() {
  const std::uint32_t root = who_.place_of(is_.dst.thread);
  if (root < who_.size()) move(block(is_.dst, root), block(is_.src, 0, who_[root]));
  if (is_.in_place) finish();
  for (std::uint32_t k = 0; k < who_.size(); ++k)
    if (k != root) move(block(is_.dst, k), block(is_.src, 0, who_[k]));
}

void carried_by_caller::exchange() {
  for (std::uint32_t i = 0; i < who_.size(); ++i) {
    for (std::uint32_t j = is_.in_place ? i + 1 : 0; j < who_.size(); ++j) {
      if (is_.in_place)
        swap(block(is_.dst, j, who_[i]), block(is_.dst, i, who_[j]));
      else
        move(block(is_.dst, i, who_[j]), block(is_.src, j, who_[i]));
    }
  }
}

void carried_by_caller::gather_all() {
  for (std::uint32_t i = 0; i < who_.size(); ++i)
    for (std::uint32_t j = 0; j < who_.size(); ++j)
      move(block(is_.dst, i, who_[j]), block(is_.src, 0, who_[i]));
}

} // namespace weft::api
