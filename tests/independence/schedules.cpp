// SPDX-License-Identifier: BSD-3-Clause
// Random schedules (schedule.hpp): several operations of two teams under way at once, completed by each rank
// in an order of its own, while ranks are away at points of chance, before they have entered some operations
// and behind others. A rank comes back when all others have come as far as the tables of docs/semantics.md
// let them; it looks on a board beside the library. So a library that holds up a rank, in whatever step, does
// not come on: after --patience seconds the rank that is away prints where each rank is. No clock decides but
// that one.
//
//   schedules [--seed N] [--cases N] [--operations N] [--largest BYTES] [--patience SECONDS] [--first CASE]
//   [--reduces] [--tell]
//
// Mutations that this catches: those of absent.cpp; a rank that is not rung for what comes behind the code of
// a user that it has run (move_on, in driver.hpp).
#include "tests/calls/away.hpp"
#include "tests/independence/stage.hpp"
#include "tests/jobs/suite.h"
#include "tools/options/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>
#include <weft/weft.hpp>

namespace {

using namespace schedules;

struct options {
  std::uint64_t seed = 1, cases = 20, first = 0, operations = 6, largest = 40'000, patience = 60;
  bool tell = false, reduces = false;
};

class player {
public:
  explicit player(const options& chosen) : chosen_(chosen), stage_(chosen.operations, chosen.largest) {
    limits_ = {threads(), chosen.operations, chosen.largest, chosen.reduces,
               std::vector<std::uint64_t>(threads())};
    std::uint64_t reached = 0;
    for (std::size_t t = 0; t != threads(); ++t)
      reached |= std::uint64_t{upc_thread_info(t).guaranteedCastable != 0} << t;
    board_.at(128 + me()).store(reached);
    upc_barrier;
    for (std::size_t t = 0; t != threads(); ++t)
      limits_.reaches[t] = board_.at(128 + t).load();
  }
  player(const player&) = delete;
  player& operator=(const player&) = delete;

  void play(std::uint64_t number) {
    calls::dice d{chosen_.seed, number, 0x5c4ed};
    std::vector<std::vector<std::size_t>> lists(2, std::vector<std::size_t>(threads()));
    for (auto& list : lists)
      std::iota(list.begin(), list.end(), std::size_t{0});
    d.shuffle(lists[1]);
    lists[1].resize(d.between(std::min<std::size_t>(2, threads()), threads()));
    s_ = draw(d, lists, limits_);
    number_ = number;
    upc_team_t other = 0;
    const std::vector<int> of_other(lists[1].begin(), lists[1].end());
    weft_team_from_threads(UPC_TEAM_ALL, of_other.size(), of_other.data(), &other);
    stage_.set(s_, {UPC_TEAM_ALL, other});
    if (chosen_.tell && MYTHREAD == 0) tell();
    here(0);
    upc_barrier;
    handles_.assign(s_.operations.size(), 0);
    for (std::size_t k = 0; k != s_.steps[me()].size(); ++k) {
      try {
        take(s_.steps[me()][k]);
      } catch (const weft::error& e) {
        std::printf("schedules: case %llu, rank %zu, step %zu, %s: %s\n",
                    static_cast<unsigned long long>(number), me(), k, s_.describe(s_.steps[me()][k]).c_str(),
                    e.what());
        end();
      }
      here(k + 1);
    }
    calls::dice own{chosen_.seed, number, me()};
    if (own.chance(40)) be_away_until(ends());
    upc_barrier;
    int failures = 0;
    for (std::size_t op = 0; op != s_.operations.size(); ++op)
      if (s_.is_member(me(), op) && !stage_.is_right(op)) {
        std::printf("schedules: case %llu, rank %zu: wrong data, %s\n",
                    static_cast<unsigned long long>(number), me(), s_.describe({act::post, op, 0}).c_str());
        ++failures;
      }
    if (failures != 0) end();
    if (other != 0) cray_upc_team_free(other);
    upc_barrier;
  }

private:
  void here(std::size_t steps) { board_.at(me()).store(number_ << 20 | steps); }
  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> all;
    for (const auto& steps : s_.steps)
      all.push_back(steps.size());
    return all;
  }
  void tell() const {
    for (std::size_t rank = 0; rank != threads(); ++rank)
      for (std::size_t k = 0; k != s_.steps[rank].size(); ++k)
        std::printf("case %llu, rank %zu, step %zu: %s\n", static_cast<unsigned long long>(number_), rank, k,
                    s_.describe(s_.steps[rank][k]).c_str());
    for (const auto& a : s_.absences) {
      std::printf("rank %zu is away until", a.rank);
      for (const std::size_t at : a.others)
        std::printf(" %zu", at);
      std::printf("\n");
    }
    std::fflush(stdout);
  }

  void take(const step& s) {
    switch (s.what) {
    case act::post:
      handles_[s.op] = stage_.post(s.op);
      break;
    case act::wait:
      complete(s.op);
      break;
    case act::test:
      if (s_.operations[s.op].what >= kind::team_reduce)
        while (upc_sync_attempt(handles_[s.op]) == 0)
          continue;
      else
        while (upc_test(handles_[s.op]) < 0)
          continue;
      break;
    case act::wait_two:
      complete(s.op);
      complete(s.other);
      break;
    case act::away:
      for (const auto& a : s_.absences)
        if (a.rank == me() && &s - s_.steps[me()].data() == static_cast<std::ptrdiff_t>(a.others[me()]))
          be_away_until(a.others);
      break;
    case act::alone:
      stage_.call_alone(s.op);
    }
  }
  void complete(std::size_t op) {
    const kind what = s_.operations[op].what;
    if (what == kind::split_barrier) {
      upc_wait;
    } else if (what >= kind::team_reduce)
      upc_sync(handles_[op]);
    else
      upc_wait(handles_[op]);
  }

  void be_away_until(const std::vector<std::size_t>& others) {
    const auto begin = std::chrono::steady_clock::now();
    const std::size_t how = calls::dice{chosen_.seed, number_, me(), 3}.below(5);
    for (;;) {
      bool all = true;
      for (std::size_t t = 0; t != threads(); ++t)
        all &= t == me() || board_.at(t).load() >= (number_ << 20 | others[t]);
      if (all) return;
      if (how == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      if (how == 1) read_something();
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(chosen_.patience)) held(others);
    }
  }
  void read_something() {
    word seen;
    upc_memget(&seen, stage_.read_alone((me() + 1) % threads()), sizeof seen);
  }
  [[noreturn]] void held(const std::vector<std::size_t>& others) {
    for (std::size_t t = 0; t != threads(); ++t) {
      const std::uint64_t at = board_.at(t).load();
      if (t == me() || at >= (number_ << 20 | others[t])) continue;
      const std::size_t k = at >> 20 == number_ ? at & 0xfffff : 0;
      std::printf("schedules: seed %llu, case %llu: while rank %zu is away at its step %llu, rank %zu is "
                  "held up at its "
                  "step %zu: %s\n",
                  static_cast<unsigned long long>(chosen_.seed), static_cast<unsigned long long>(number_),
                  me(), static_cast<unsigned long long>(board_.at(me()).load() & 0xfffff), t, k,
                  s_.describe(s_.steps[t][k]).c_str());
    }
    end();
  }
  [[noreturn]] static void end() {
    std::fflush(stdout);
    upc_global_exit(1);
    std::abort();
  }

  const options& chosen_;
  limits limits_;
  const calls::blackboard board_;
  stage stage_;
  schedule s_;
  std::uint64_t number_ = 0;
  std::vector<unsigned long long> handles_;
};

void describe(weft::command_line& app, options& chosen) {
  app.add("--seed", &chosen.seed, "of the cases");
  app.add("--cases", &chosen.cases, "how many");
  app.add("--first", &chosen.first, "number of the first one");
  app.add("--operations", &chosen.operations, "of a case");
  app.add("--largest", &chosen.largest, "bytes of a block");
  app.add("--patience", &chosen.patience, "seconds until a rank counts as held up");
  app.add_flag("--reduces", chosen.reduces,
               "only what a root gets, of which a late rank holds up the root alone");
  app.add_flag("--tell", chosen.tell, "print the cases");
}

int run(int argc, char** argv) {
  options chosen;
  weft::command_line app(
      "Random schedules, of which no step may be held up by a rank that it does not need.");
  describe(app, chosen);
  if (const auto status = app.parse(argc, argv)) return *status;
  player p(chosen);
  for (std::uint64_t k = 0; k != chosen.cases; ++k)
    p.play(chosen.first + k + 1);
  if (MYTHREAD == 0)
    std::printf("%llu cases: no rank was held up\n", static_cast<unsigned long long>(chosen.cases));
  return 0;
}

} // namespace

WEFT_SUITE(schedules) {
  return run(argc, argv);
}
