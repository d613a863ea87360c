#pragma once
#include "api/runtime_heap.hpp"
#include "api/team_calls.hpp"

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace weft::api {

// The teams that this rank is a member of.
//
// Creation is collective over a parent. Every member offers {color, key}, or a digest of the list that all
// give; two gather-alls of 16 bytes over the parent tell everybody who is in which team, and what the first
// member of each got from rank 0: the offset of the team's board in every member's segment, and a number that
// no other team of the run has. Each member clears its board before a last barrier of the parent, so nobody
// can touch a board that is not ready, and no message of the new team can come before its receiver knows the
// team.
//
// Freeing returns at once. A hidden barrier of the team is posted behind everything else; when it is complete
// here, this rank will not look at the team's boards again and tells the first member, who gives the memory
// back when it has heard that from all. Completions are noticed at the next creation or free: many teams in
// turn take no more memory than those that live at once.
class team_registry final : public team_calls {
public:
  using engine_type = heap_service::engine_type;
  // Of every team: its state, and scratch for 16 bytes from and for each member.
  struct entry {
    progress::team_state* state = nullptr;
    std::uint64_t scratch = 0;
    std::uint64_t block = 0; // its memory; 0: lives as long as the job
  };

  team_registry(engine_type& engine, heap_service& heap, std::vector<std::uint32_t> nodes, entry all);

  std::uint32_t size(team t) const override;
  std::uint32_t rank(team t) const override;
  std::uint32_t thread(team t, std::uint32_t member) const override;
  std::uint32_t member(team t, std::uint32_t rank) const override;
  team split(team parent, int color, int key) override { return split_as(parent, color, key, false); }
  std::optional<team> make(team parent, std::span<const std::uint32_t> ranks) override;
  void free(team t) override;
  handle post(team t, const collectives::request& r, const graph::binding& at) override {
    return post(t, r, at, {});
  }
  handle post(team t, const collectives::request& r, const graph::binding& at,
              const progress::barrier_summary& value);
  void run(team t, const collectives::request& r, const graph::binding& at) override;
  void await_all_entered(team t, handle h) override;

  // Once, when the job begins: the ranks of each node, in rank order.
  void make_node_team(std::uint32_t node) { split_as(all, static_cast<int>(node), 0, true); }

  bool on_message(const transport::message& m);
  static std::uint64_t scratch_bytes(std::uint32_t members) { return 16u * (members + 1u); }

private:
  struct pair {
    std::uint64_t first, second;
  };
  static constexpr std::uint32_t left = 32; // message: a member has left the team of this board

  entry at(team t) const;
  progress::team_state& state(team t) const { return t == all ? *all_ : *at(t).state; }
  team split_as(team parent, int color, int key, bool of_node);
  std::optional<team> create(const entry& parent, const std::vector<std::uint32_t>& order, bool of_node);
  team enter(engine::team_info info, const pair& granted, bool of_node);
  std::vector<pair> gather(const entry& parent, pair mine);
  heap_service::board_grant board_for(const std::vector<std::uint32_t>& members);
  graph::geometry geometry_of(const std::vector<std::uint32_t>& members) const;
  void reap();
  void leave_block(std::uint64_t block, std::uint32_t first, std::uint32_t members);
  void count_leaver(std::uint64_t block, std::uint32_t members);

  struct closing {
    std::uint64_t barrier; // of the leaving members; 0 until it is posted
    entry team;
  };
  bool closed(closing& c);

  engine_type& engine_;
  heap_service& heap_;
  const std::vector<std::uint32_t> nodes_; // by rank of the job
  progress::team_state* const all_;        // the team that most calls use, found without a lock
  mutable std::shared_mutex lock_;
  std::unordered_map<team, entry> teams_; // by the team's number + 1
  std::vector<closing> closing_;
  std::mutex leavers_lock_;
  std::unordered_map<std::uint64_t, std::uint32_t> leavers_; // by block, on the first member
};

} // namespace weft::api
