// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace weft::control {

// Teams, as the public calls see them. A team is known by a handle of this process; handles are never used
// again. Every number of a member is a team rank, pointers are offsets as everywhere.
class team_calls {
public:
  using team = std::uint64_t;
  using handle = std::uint64_t;
  static constexpr team all = 1, node = 2;
  // With a number behind it, no team but a channel of this rank's own: see own_channel.
  static constexpr team own = team{1} << 63;

  virtual std::uint32_t size(team t) const = 0; // 0: unknown or freed
  virtual std::uint32_t rank(team t) const = 0;
  virtual std::uint32_t thread(team t, std::uint32_t member) const = 0; // rank in the job

  // The member that is this rank of the job; size(t) if it is none.
  virtual std::uint32_t member(team t, std::uint32_t rank) const = 0;

  // Collective over the parent. The new team of those that gave the same color, ordered by key and then by
  // their rank in the parent; 0 if there is no room for another team.
  virtual team split(team parent, int color, int key) = 0;
  // Collective over the parent. The team of these ranks of the job, all of them members, in this order: on a
  // rank that is not among them 0. Nothing if there is no room for another team. Throws, on all, if two gave
  // different ranks.
  virtual std::optional<team> make(team parent, std::span<const std::uint32_t> ranks) = 0;
  // Collective over the members alone, which have an exchange of their own: as many bytes from each, in the
  // order of their ranks in the new team. Nothing if there is no room. It throws operation_error if that
  // fails.
  using gathering = std::function<void(std::span<const std::byte> mine, void* all)>;
  virtual std::optional<team> make(std::uint32_t me, std::uint32_t members, const gathering& brought) = 0;
  // Collective over the team; returns at once.
  virtual void free(team t) = 0;

  // For operations that this rank alone posts, whether it is among these ranks of the job or not; none are
  // all of them. Their engines begin their part when they hear of it. Opened by the first call, for ever; 0
  // if there is no room for another one. Throws if one of them is dead.
  virtual team own_channel(std::span<const std::uint32_t> ranks) = 0;

  // Posting never waits (more than the table's cap throws).
  virtual handle post(team t, const collectives::request& r, const graph::binding& at) = 0;
  // A row of them that is one to the program, with the handle of the last; see progress::series.
  virtual handle post(team t, std::span<const collectives::bound_request> series) = 0;
  virtual void run(team t, const collectives::request& r, const graph::binding& at) = 0;
  // What collectives says of the team's members and network, see algorithm.hpp. The same on all members.
  virtual bool touches_own(team t, const collectives::request& r) = 0;
  virtual std::uint64_t piece_of_series(team t, const collectives::request& r) = 0;
  virtual collectives::in_messages longest_in_messages(team t) = 0;
  virtual std::uint64_t longest_along(team t) = 0;
  // Returns when every member has entered the operation of this handle (or it is complete).
  virtual void await_all_entered(team t, handle h) = 0;

protected:
  ~team_calls() = default;
};

} // namespace weft::control
