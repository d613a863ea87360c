// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "include/upc_collective.h"
#include "include/weft/team.hpp"
#include "progress/execution/operation_error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weft {
namespace api {
namespace {

std::string element(int i) {
  return "threads[" + std::to_string(i) + "]";
}

// The list, each element of which is another member.
std::vector<std::uint32_t> require_members(const collective_call& c, int count, const int* threads) {
  if (count < 1) fail(c.name, "count", std::to_string(count), "must be at least 1: a team has a thread");
  if (static_cast<std::uint32_t>(count) > c.threads)
    fail(c.name, "count", std::to_string(count),
         "is more than the " + std::to_string(c.threads) + " threads of the parent: name each once");
  if (threads == nullptr) fail(c.name, "threads", "null", "must be the address of `count` thread numbers");
  std::vector<std::uint32_t> list;
  std::vector<bool> seen(c.threads);
  for (int i = 0; i != count; ++i) {
    const std::uint32_t rank = threads[i] < 0 ? c.threads : c.rank(static_cast<std::uint32_t>(threads[i]));
    if (rank >= c.threads)
      fail(c.name, element(i).c_str(), std::to_string(threads[i]), "is no thread of the parent");
    if (seen[rank])
      fail(c.name, element(i).c_str(), std::to_string(threads[i]), "is in the list twice: name each once");
    seen[rank] = true;
    list.push_back(static_cast<std::uint32_t>(threads[i]));
  }
  return list;
}

} // namespace
} // namespace api

int weft_team_from_threads(upc_team_t parent, int count, const int* threads, upc_team_t* new_team) {
  const api::collective_call c = api::begin_collective("weft_team_from_threads", api::mode{}, parent);
  const std::vector<std::uint32_t> list = api::require_members(c, count, threads);
  if (new_team == nullptr) api::fail(c.name, "new_team", "null", "must be the address of a team handle");
  const std::optional<upc_team_t> made = api::naming(c.name, [&] { return c.rt.teams().make(parent, list); });
  *new_team = made.value_or(0);
  return made ? 0 : 1;
}

int weft_team_thread(upc_team_t team, int rank) {
  constexpr const char* call = "weft_team_thread";
  api::runtime& rt = api::runtime::get(call);
  const std::uint32_t members = api::require_team(rt, call, team);
  if (rank < 0 || static_cast<std::uint32_t>(rank) >= members) [[unlikely]]
    api::fail(call, "rank", std::to_string(rank),
              "must be a rank of the team, 0 to " + std::to_string(members - 1));
  if (team == api::team_calls::all) return rank;
  return static_cast<int>(rt.teams().thread(team, static_cast<std::uint32_t>(rank)));
}

int weft_team_rank_of(upc_team_t team, int thread) {
  constexpr const char* call = "weft_team_rank_of";
  api::runtime& rt = api::runtime::get(call);
  const std::uint32_t members = api::require_team(rt, call, team);
  if (thread < 0 || static_cast<std::uint32_t>(thread) >= rt.size()) [[unlikely]]
    api::fail_thread(call, "thread", static_cast<std::uint64_t>(static_cast<std::int64_t>(thread)),
                     rt.size());
  if (team == api::team_calls::all) return thread;
  const std::uint32_t rank = rt.teams().member(team, static_cast<std::uint32_t>(thread));
  return rank < members ? static_cast<int>(rank) : -1;
}

namespace detail {

void free_team(upc_team_t team) noexcept {
  api::in_destructor([&] { cray_upc_team_free(team); });
}

} // namespace detail

int weft_team_with(const weft_exchange_t* exchange, upc_team_t* new_team) {
  constexpr const char* call = "weft_team_with";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  api::require_exchange(call, exchange);
  if (new_team == nullptr) api::fail(call, "new_team", "null", "must be the address of a team handle");
  const auto gather = [exchange](std::span<const std::byte> mine, void* all) {
    const int status = exchange->allgather(exchange->context, mine.data(), mine.size(), all);
    if (status != 0) throw progress::operation_error(api::exchange_failure("allgather", status));
  };
  const std::optional<upc_team_t> made = api::naming(call, [&] {
    return rt.teams().make(static_cast<std::uint32_t>(exchange->rank),
                           static_cast<std::uint32_t>(exchange->size), gather);
  });
  *new_team = made.value_or(0);
  return made ? 0 : 1;
}

} // namespace weft
