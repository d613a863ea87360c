// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/teams.hpp"
#include "tests/simulated/control_books.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <string>
#include <vector>

namespace weft::tests {

// How often what is rare has come, to show that a test has met it.
struct control_counts {
  std::uint64_t refusals = 0, teams_refused = 0, frees_of_others = 0, wrong_frees = 0, nonsense = 0;
};

// What the ranks of one run of a control_case know of each other beside the library.
struct control_world {
  control_world(const control_case& c, control_counts& counts);
  std::uint64_t segment_bytes() const;

  const control_case& program;
  control_counts& counts;
  const std::uint64_t team_bytes;
  const control::heap_layout layout;
  team_books teams;
  std::vector<region_books> regions; // the symmetric one, then the local one of each rank
  struct block {
    std::size_t region = 0;
    std::uint64_t offset = 0, bytes = 0;
    std::size_t life = 0; // in the region's books
  };
  std::vector<block> pool; // whoever takes one out frees it
  std::vector<block> kept; // by rank: what it allocated first, for a free by all
  // Allocations and frees of all, by step.
  struct together {
    std::uint32_t entered = 0, left = 0;
    moment first = 0; // entry
    block got{};
  };
  std::vector<together> steps;
  moment now = 0;
  std::uint32_t ended = 0;
};

// Plays the part of a rank in a control_case: between the steps of all it allocates and frees by itself, is
// late, and sends what is no request. Throws what goes wrong.
class control_player {
public:
  using transport_type = transport::simulated_transport;

  control_player(control_world& w, simulated_engine& e, progress::channel& all);
  void play();
  std::string doing() const;

private:
  using step = control_case::step;
  using block = control_world::block;

  void act();
  void allocate_alone();
  void free_one();
  void free_alone(const block& b);
  void send_nonsense();
  void be_late(std::uint64_t microseconds);

  void take(const step& s);
  void allocate(const step& s);
  void free_together(const step& s);
  void split(const step& s);
  void make(const step& s);
  void make_of_two_lists(const step& s);
  void free_team(const step& s);
  void post(const step& s);

  void note(std::size_t team, std::uint64_t handle, moment asked);
  void check_refusal(moment asked);
  void finish_one();
  void check(const step& s) const;
  void end();
  std::uint64_t destination(const step& s) const;
  std::uint64_t source(const step& s) const;
  moment tick() { return ++world_.now; }

  control_world& world_;
  const control_case& c_;
  simulated_engine& engine_;
  transport_type& net_;
  control::heap_service<transport_type> heap_;
  control::team_registry<transport_type> teams_;
  const std::uint32_t rank_;
  transport::sim::seeded_random random_;
  std::vector<std::uint64_t> handles_; // by team; 0: not there
  struct posted {
    const step* what;
    std::uint64_t handle;
  };
  std::vector<posted> posted_;
  std::vector<const step*> left_early_; // OUT_NO: checked when all are through
  std::size_t at_ = 0;                  // step
};

} // namespace weft::tests
