// SPDX-License-Identifier: BSD-3-Clause
#include "api/one_sided/subset.hpp"

#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"

#include <algorithm>
#include <string>

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

} // namespace weft::api
