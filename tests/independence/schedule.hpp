// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"
#include "tests/calls/dice.hpp"

#include <string>
#include <vector>

// What all ranks do, one step after the other: they post operations on two teams, complete them in an order
// of their own, call what concerns no other rank, and are away for a while. And which step must be reached
// while a rank is away, by the tables of docs/semantics.md.
namespace schedules {

enum class kind : std::uint8_t {
  broadcast,
  scatter,
  gather,
  gather_all,
  exchange,
  permute,
  reduce, // of an array over the threads of the job
  reduce_all,
  prefix,
  sort,
  team_reduce,
  team_allreduce,
  team_scan,
  team_exscan,
  team_reduce_scatter,
  alltoallv,
  allgatherv,
  gatherv,
  scatterv,
  barrier_nb,
  alltoall_nb, // its post waits
  split_barrier,
};
inline constexpr std::size_t kinds = 22;
const char* name_of(kind what);
inline bool is_array(kind what) {
  return what >= kind::reduce && what <= kind::sort;
}
inline bool is_vector(kind what) {
  return what >= kind::team_reduce && what <= kind::team_reduce_scatter;
}
inline bool has_modes(kind what) {
  return what <= kind::sort;
}

using calls::sync;

// By a function of the program; with brackets that depend on the indices alone.
enum class combined : std::uint8_t { library, function, reproducible, strictly_in_order };

struct operation {
  kind what = kind::exchange;
  std::size_t team = 0;
  sync in = sync::my, out = sync::my;
  std::uint64_t words = 1; // of a block, a vector, or a rank's part of an array
  std::uint64_t blk = 1;   // of an array, elements
  std::size_t root = 0;    // rank in the team
  combined how = combined::library;
  std::vector<std::size_t> next; // of a permutation
};

enum class act : std::uint8_t {
  post,
  wait,
  test,     // until it is complete
  wait_two, // op and other
  away,
  alone, // what waits for no other rank: `op` says which
};
struct step {
  act what = act::post;
  std::size_t op = 0, other = 0;
};

struct limits {
  std::size_t threads = 1, operations = 6;
  std::uint64_t largest = 40'000; // bytes of a block
  bool only_reduces = false;
  std::vector<std::uint64_t> reaches; // of each rank, a bit for each one that it reaches by loads and stores
};

struct schedule {
  std::vector<std::vector<std::size_t>> teams; // threads, by rank
  std::vector<operation> operations;
  std::vector<std::vector<step>> steps; // of each rank
  // Of each away step, in the order in which these end: its rank, and how many steps each rank has behind it
  // before that.
  struct absence {
    std::size_t rank;
    std::vector<std::size_t> others;
  };
  std::vector<absence> absences;

  bool is_member(std::size_t rank, std::size_t op) const;
  std::string describe(const step& s) const;
};

// May a thread that has not entered hold up that one?
bool may_hold_up(const schedule& s, std::size_t op, std::size_t late, std::size_t rank, const limits& l);

// `teams`: those that the steps may use. Legal: without an absence all ranks come to their end.
schedule draw(calls::dice d, std::vector<std::vector<std::size_t>> teams, const limits& l);

} // namespace schedules
