// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::api {

// 0 or UPC_ASYNC.
void require_known_flags(const char* call, upc_flag_t flags);

// The threads that take part in a one-sided operation, in their order. All threads of the job, in theirs,
// have no list.
class subset {
public:
  // Errors: unknown or freed team; no threads, one that does not exist, one twice.
  static subset of_team(runtime& rt, const char* call, upc_team_t team);
  static subset of_list(runtime& rt, const char* call, const int* threads, std::size_t count);

  bool all() const { return list_.empty(); }
  std::uint32_t size() const { return size_; }
  std::uint32_t operator[](std::uint32_t k) const { return all() ? k : list_[k]; }
  // The place of a thread; size() if it takes no part.
  std::uint32_t place_of(std::uint32_t thread) const;
  std::span<const std::uint32_t> list() const { return list_; }

private:
  explicit subset(std::uint32_t size) : size_(size) {}
  subset(const runtime& rt, std::vector<std::uint32_t> list);

  std::uint32_t size_;
  std::vector<std::uint32_t> list_;
};

// Whether engines are to do what touches so many bytes of all that take part, or the caller alone: that is as
// fast as it can be within a host, and between hosts for a few small messages.
bool worth_engines(runtime& rt, const subset& ranks, checked bytes, bool async);

// An operation on the caller's own channel: the engines of those that take part begin when they hear of it,
// and with the last node it is complete everywhere. Roots are places in the subset. Nothing: there is no room
// for one more channel.
std::optional<collective_call> by_engines(const char* call, runtime& rt, const subset& ranks, bool async);

} // namespace weft::api
