// SPDX-License-Identifier: BSD-3-Clause
#include "api/one_sided/by_caller.hpp"

#include "api/calls/copies.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace weft::api {

void require_known_flags(const char* call, upc_flag_t flags) {
  if ((flags & ~UPC_ASYNC) != 0) fail(call, "flags", std::to_string(flags), "must be 0 or UPC_ASYNC");
}

namespace {

bool near(runtime& rt, const subset& ranks) {
  if (ranks.all()) return rt.all_near();
  return std::ranges::all_of(ranks.list(),
                             [&](std::uint32_t thread) { return rt.direct(thread, 0) != nullptr; });
}

} // namespace

bool worth_engines(runtime& rt, const subset& ranks, checked bytes, bool async) {
  constexpr std::uint64_t small_bytes = 64 * 1024;
  constexpr std::uint32_t few_threads = 32;
  const bool large = bytes > small_bytes;
  return near(rt, ranks) ? ranks.all() && async && large : large || ranks.size() > few_threads;
}

std::optional<collective_call> by_engines(const char* call, runtime& rt, const subset& ranks, bool async) {
  const team_calls::team channel = naming(call, [&] { return rt.teams().own_channel(ranks.list()); });
  if (channel == 0) return std::nullopt;
  return collective_call{call, rt, channel, {.async = async}, ranks.size()};
}

subset::subset(const runtime& rt, std::vector<std::uint32_t> list)
    : size_(static_cast<std::uint32_t>(list.size())), list_(std::move(list)) {
  for (std::uint32_t k = 0; k < size_; ++k)
    if (size_ != rt.size() || list_[k] != k) return;
  list_.clear();
}

subset subset::of_team(runtime& rt, const char* call, upc_team_t team) {
  const std::uint32_t size = require_team(rt, call, team);
  if (team == team_calls::all) return subset(size);
  std::vector<std::uint32_t> list(size);
  for (std::uint32_t k = 0; k < size; ++k)
    list[k] = rt.teams().thread(team, k);
  return {rt, std::move(list)};
}

subset subset::of_list(runtime& rt, const char* call, const int* threads, std::size_t count) {
  if (threads == nullptr || count == 0)
    fail(call, "threads", "none", "at least one thread must take part: pass a list of thread numbers");
  std::vector<std::uint32_t> list;
  std::vector<bool> seen(rt.size());
  for (const int thread : std::span(threads, count)) {
    require_thread(rt, call, "threads", thread < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(thread));
    const auto it = static_cast<std::uint32_t>(thread);
    if (seen[it]) fail(call, "threads", "thread " + std::to_string(thread), "is there twice: pass each once");
    seen[it] = true;
    list.push_back(it);
  }
  return {rt, std::move(list)};
}

std::uint32_t subset::place_of(std::uint32_t thread) const {
  if (all()) return std::min(thread, size_);
  return static_cast<std::uint32_t>(std::ranges::find(list_, thread) - list_.begin());
}

namespace {

// So much of a source stays in the cache while it goes to all destinations; so much of elements is brought
// together.
constexpr std::uint64_t at_once = 64 * 1024;

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
    const bool stays = ranks_[k] == is_.src.thread && is_.in_place;
    return stays || from == nullptr ? nullptr : memory(block(is_.dst, 0, ranks_[k]));
  };
  for (std::size_t at = 0; at < is_.bytes; at += at_once)
    for (std::uint32_t k = 0; k < ranks_.size(); ++k)
      if (std::byte* const to = place(k)) std::memcpy(to + at, from + at, std::min(at_once, is_.bytes - at));
  for (std::uint32_t k = 0; k < ranks_.size(); ++k)
    if (from == nullptr || memory(block(is_.dst, 0, ranks_[k])) == nullptr)
      move(block(is_.dst, 0, ranks_[k]), is_.src);
}

// The root's own block comes last: in place it is written where the first one was.
void carried_by_caller::scatter() {
  const std::uint32_t root = ranks_.place_of(is_.src.thread);
  for (std::uint32_t k = 0; k < ranks_.size(); ++k)
    if (k != root) move(block(is_.dst, 0, ranks_[k]), block(is_.src, k));
  if (is_.in_place) finish();
  if (root < ranks_.size()) move(block(is_.dst, 0, ranks_[root]), block(is_.src, root));
}

// And here first.
void carried_by_caller::gather() {
  const std::uint32_t root = ranks_.place_of(is_.dst.thread);
  if (root < ranks_.size()) move(block(is_.dst, root), block(is_.src, 0, ranks_[root]));
  if (is_.in_place) finish();
  for (std::uint32_t k = 0; k < ranks_.size(); ++k)
    if (k != root) move(block(is_.dst, k), block(is_.src, 0, ranks_[k]));
}

void carried_by_caller::exchange() {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    for (std::uint32_t j = is_.in_place ? i + 1 : 0; j < ranks_.size(); ++j) {
      if (is_.in_place)
        swap(block(is_.dst, j, ranks_[i]), block(is_.dst, i, ranks_[j]));
      else
        move(block(is_.dst, i, ranks_[j]), block(is_.src, j, ranks_[i]));
    }
  }
}

void carried_by_caller::gather_all() {
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    for (std::uint32_t j = 0; j < ranks_.size(); ++j)
      move(block(is_.dst, i, ranks_[j]), block(is_.src, 0, ranks_[i]));
}

namespace {

// The largest element, twice.
using carried = std::array<std::byte, 64>;

} // namespace

// The first piece of what each far thread has, all on their way together, one behind the other.
std::vector<std::byte> computed_by_caller::bring(std::span<const reductions::layout::span> all) const {
  const std::uint64_t size = it_.from.size;
  std::uint64_t far = 0;
  for (std::uint32_t k = 0; k < ranks_.size(); ++k)
    if (rt_.direct(ranks_[k], 0) == nullptr) far += std::min(all[k].elements, at_once / size) * size;
  std::vector<std::byte> brought(far);
  std::vector<handle> begun;
  std::byte* to = brought.data();
  for (std::uint32_t k = 0; k < ranks_.size(); ++k) {
    const std::uint64_t bytes = std::min(all[k].elements, at_once / size) * size;
    if (bytes == 0 || rt_.direct(ranks_[k], 0) != nullptr) continue;
    if (const handle h = begin_get(rt_, call_, to, {all[k].at, ranks_[k], 0}, bytes)) begun.push_back(h);
    to += bytes;
  }
  complete_all(rt_, begun);
  return brought;
}

// Each thread's elements together: the order of what commutes is free.
void computed_by_caller::reduce() const {
  alignas(64) carried result;
  const std::uint64_t size = it_.from.size;
  std::vector<reductions::layout::span> left;
  for (std::uint32_t k = 0; k < ranks_.size(); ++k)
    left.push_back(it_.from.of_thread(k));
  bool more = false;
  const auto fold = [&](const void* from, std::uint64_t elements) {
    if (elements != 0) it_.how.fold(result.data(), from, elements, more, nullptr);
    more |= elements != 0;
  };
  for (std::uint32_t k = 0; k < ranks_.size(); ++k) {
    const void* const there = rt_.direct(ranks_[k], left[k].at);
    if (there == nullptr) continue;
    fold(there, left[k].elements);
    left[k].elements = 0;
  }
  for (std::vector<std::byte> brought = bring(left); !brought.empty(); brought = bring(left)) {
    const std::byte* from = brought.data();
    for (reductions::layout::span& s : left) {
      const std::uint64_t now = std::min(s.elements, at_once / size);
      fold(from, now);
      s = {s.at + now * size, s.elements - now};
      from += now * size;
    }
  }
  if (more) rt_.put(it_.dst.thread, it_.dst.addr, result.data(), size);
}

// Elements that follow each other where they are read and where they are written.
struct computed_by_caller::run {
  std::uint32_t from_thread, to_thread;
  std::uint64_t from, to, elements;
};

computed_by_caller::run computed_by_caller::next_run(std::uint64_t element) const {
  const reductions::layout &from = it_.from, &to = it_.to;
  const std::uint64_t a = from.block_of(element), b = to.block_of(element);
  const std::uint64_t end = std::min(from.end_of(a), to.end_of(b));
  return {ranks_[from.thread_of(a)], ranks_[to.thread_of(b)], from.address_of(element),
          to.address_of(element), std::min(end - element, at_once / from.size)};
}

void computed_by_caller::scan(bool exclusive) const {
  alignas(64) carried carry;
  std::vector<std::byte> brought, made;
  const std::uint64_t size = it_.from.size;
  for (std::uint64_t element = 0; element != it_.from.elements;) {
    const run r = next_run(element);
    const void* from = rt_.direct(r.from_thread, r.from);
    void* to = rt_.direct(r.to_thread, r.to);
    if (from == nullptr) {
      brought.resize(r.elements * size);
      rt_.get(brought.data(), r.from_thread, r.from, r.elements * size);
      from = brought.data();
    }
    const bool far = to == nullptr;
    if (far) {
      made.resize(r.elements * size);
      to = made.data();
    }
    it_.how.scan(to, from, r.elements, carry.data(), element != 0, exclusive, nullptr);
    const std::uint64_t kept = exclusive && element == 0 ? 1 : 0; // nothing is in front of the first
    if (far && kept != r.elements)
      rt_.put(r.to_thread, r.to + kept * size, made.data() + kept * size, (r.elements - kept) * size);
    element += r.elements;
  }
}

} // namespace weft::api
