#pragma once
#include "api/runtime/heap.hpp"
#include "api/runtime/team_calls.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
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
// no other team of the run has. Each member clears its board before a third one, of who has got so far, so
// nobody can touch a board that is not ready, and no message of the new team can come before its receiver
// knows the team.
//
// Freeing returns at once. A member is quiet when it has freed the team and all that it posted on it is
// retired here: from then on it touches nobody's board by itself. It says so to the first member, once,
// whoever drives its engine then; who has heard it from all gives the memory back to rank 0.
//   - A quiet member still answers those that are not: they read its board, and ask it for rows and credit.
//   So
//     it keeps its state of the team until the memory is another team's, of which it is a member too: that is
//     handed out only after all were quiet. What still arrives for the old team is dropped from then on.
//   - Nothing of this waits, takes part in the team's sequence of operations or in the users' number of them,
//     or is looked at again and again: a team that its last member frees late costs nobody anything.
//   - Who finds no memory asks again for as long as some may be on its way back.
// So many teams in turn take no more memory than those that live at once.
//
// Everything of a freed team, and of what is told about it, is under the baton.
class team_registry final : public team_calls {
public:
  using engine_type = heap_service::engine_type;
  // Of every team: its state, and scratch for 16 bytes from and for each member.
  struct entry {
    progress::team_state* state = nullptr;
    std::uint64_t scratch = 0;
  };

  team_registry(engine_type& engine, heap_service& heap, std::vector<std::uint32_t> nodes, entry all);

  std::uint32_t size(team t) const override;
  std::uint32_t rank(team t) const override;
  std::uint32_t thread(team t, std::uint32_t member) const override;
  std::uint32_t member(team t, std::uint32_t rank) const override;
  team split(team parent, int color, int key) override {
    return split_as(parent, color, key, collectives::caller::split);
  }
  std::optional<team> make(team parent, std::span<const std::uint32_t> ranks) override;
  void free(team t) override;
  handle post(team t, const collectives::request& r, const graph::binding& at) override {
    return post(t, r, at, {});
  }
  handle post(team t, const collectives::request& r, const graph::binding& at,
              const progress::barrier_summary& value, progress::barrier_summary* heard = nullptr);
  void run(team t, const collectives::request& r, const graph::binding& at) override;
  void await_all_entered(team t, handle h) override;

  // The job is over: nothing is said, or heard, of freed teams any more. Under the baton.
  void abandon() { over_ = true; }

  // Once, when the job begins: the ranks of each node, in rank order.
  void make_node_team(std::uint32_t node) {
    split_as(all, static_cast<int>(node), 0, collectives::caller::init);
  }

  bool on_message(const transport::message& m);
  static std::uint64_t scratch_bytes(std::uint32_t members) { return 16u * (members + 1u); }

private:
  struct pair {
    std::uint64_t first, second;
  };
  // A team on its way. The members of the parent count its operations, so whoever a step fails for takes the
  // others even so, says in the last one that it has failed, and reports it then.
  struct making {
    entry parent;
    collectives::caller by;
    std::exception_ptr failed = nullptr;

    // True if the work is done.
    template <class Work> bool go(Work&& work) {
      try {
        work();
        return true;
      } catch (const progress::operation_error&) {
        if (!failed) failed = std::current_exception();
        return false;
      }
    }
  };
  static constexpr std::uint64_t went_well = 1;
  static constexpr std::uint32_t quiet = 32; // message: a member of the team of this memory is quiet

  entry at(team t) const;
  progress::team_state& state(team t) const { return t == all ? *all_ : *at(t).state; }
  team split_as(team parent, int color, int key, collectives::caller by);
  std::optional<team> create(making& m, const std::vector<std::uint32_t>& order, bool some_return);
  void forget(team t);
  team enter(engine::team_info info, const pair& granted, bool of_node);
  std::vector<pair> gather(making& m, pair mine);
  pair wish(std::uint64_t first, std::uint32_t second) const;
  heap_service::board_grant board_for(const std::vector<std::uint32_t>& members, bool some_return);
  graph::geometry geometry_of(const std::vector<std::uint32_t>& members) const;
  void forget_tenants(std::uint64_t begin, std::uint64_t end);
  void became_quiet(const progress::team_state& team);
  void count_quiet(std::uint64_t block);

  engine_type& engine_;
  heap_service& heap_;
  const std::vector<std::uint32_t> nodes_; // by rank of the job
  progress::team_state* const all_;        // the team that most calls use, found without a lock
  mutable std::shared_mutex lock_;
  std::unordered_map<team, entry> teams_; // by the team's number + 1
  // The teams in the boards' memory, by offset: of every place the last one that this rank was a member of.
  // Under the baton.
  struct tenant {
    progress::team_state* state;
    std::uint64_t end;               // of its memory
    std::uint32_t quiet_members = 0; // as the first member has heard
  };
  std::map<std::uint64_t, tenant> tenants_;
  std::atomic<std::uint32_t> returning_{0}; // teams that I have freed and am the first of, not yet given back
  bool over_ = false;
};

} // namespace weft::api
