// SPDX-License-Identifier: BSD-3-Clause
// As many operations outstanding at once as a program may want. All threads but the last post everything
// before the last one enters at all, so that on them nothing can be complete: a library in which posting
// waits hangs here. Then the last one comes, and every result is checked.
//
//   outstanding team     65,535 operations on one team, twice: the second time needs no more memory
//   outstanding teams    65,535 operations spread over eight teams
//   outstanding cap      more than WEFT_MAX_OPERATIONS: an error, and nothing is lost
//   outstanding starve   a handle is reported however many others are ready all the time
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <malloc.h>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr unsigned full = 65535;
// What an operation may take: its description and its slot in the tables, some hundred bytes, and slack.
constexpr double bytes_allowed = 512;

int failures = 0;

void expect(bool ok, const std::string& what) {
  if (ok) return;
  std::printf("thread %d of %d: %s\n", static_cast<int>(MYTHREAD), static_cast<int>(THREADS), what.c_str());
  ++failures;
}

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}

// The sanitizers have a heap of their own, which tells nothing, and keep a shadow of every page.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool memory_is_known = false;
#else
constexpr bool memory_is_known = true;
#endif

// What this process has taken from the heap of the C++ program, where the library's tables are.
std::size_t allocated() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::size_t resident() {
  std::size_t size = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct teams {
  explicit teams(unsigned count) {
    if (count == 1) all_ = {UPC_TEAM_ALL};
    while (all_.size() != count) {
      upc_team_t made = 0;
      expect(cray_upc_team_split(UPC_TEAM_ALL, 0, static_cast<int>(MYTHREAD), &made) == CRAY_UPC_SUCCESS,
             "split");
      all_.push_back(made);
    }
  }
  ~teams() {
    for (const upc_team_t t : all_)
      if (t != UPC_TEAM_ALL) cray_upc_team_free(t);
  }
  teams(const teams&) = delete;
  teams& operator=(const teams&) = delete;
  upc_team_t operator[](unsigned op) const { return all_[op % all_.size()]; }

private:
  std::vector<upc_team_t> all_;
};

// Barriers and exchanges of 8 bytes in turn, each exchange with its own place in two areas.
class wave {
public:
  wave(const teams& on, unsigned count) : teams_(on), handles_(count) {
    const std::size_t room = count * threads() * sizeof(std::uint64_t);
    dst_ = upc_all_alloc(threads(), room);
    src_ = upc_all_alloc(threads(), room);
    mine_dst_ = static_cast<std::uint64_t*>(upc_cast(upc_ptradd(dst_, 1, room, MYTHREAD)));
    mine_src_ = static_cast<std::uint64_t*>(upc_cast(upc_ptradd(src_, 1, room, MYTHREAD)));
    std::memset(mine_dst_, 0xee, room);
    std::memset(mine_src_, 0xee, room);
  }
  ~wave() {
    upc_barrier;
    if (MYTHREAD == 0) {
      upc_free(dst_);
      upc_free(src_);
    }
  }
  wave(const wave&) = delete;
  wave& operator=(const wave&) = delete;

  void fill(unsigned number) {
    number_ = number;
    for (unsigned op = 0; op != count(); ++op)
      for (std::size_t to = 0; to != threads(); ++to)
        mine_src_[op * threads() + to] = value(op, static_cast<std::size_t>(MYTHREAD), to);
  }
  void post(unsigned op) {
    constexpr upc_flag_t modes = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;
    if (op % 2 == 0)
      handles_[op] = cray_upc_team_barrier_nb(teams_[op / 2]);
    else
      handles_[op] =
          upc_all_exchange(at(dst_, op), at(src_, op), sizeof(std::uint64_t), modes, teams_[op / 2]);
  }
  void post_all() {
    for (unsigned op = 0; op != count(); ++op)
      post(op);
  }

  // By every function in turn.
  void complete_all() {
    const int all = static_cast<int>(count());
    for (unsigned k = 0; k < std::min(1000u, count() / 4); ++k) {
      const int index = upc_waitany(all, handles_.data());
      expect(index >= 0, "waitany found nothing");
    }
    for (unsigned op = 0; op < count(); op += 7)
      upc_wait(handles_[op]);
    for (unsigned k = 0; k != 100; ++k)
      upc_waitsome(all, handles_.data());
    upc_waitall(all, handles_.data());
    expect(std::ranges::count(handles_, UPC_HANDLE_COMPLETE) == all, "waitall has left a handle");
  }

  void check(unsigned posted) const {
    unsigned wrong = 0;
    for (unsigned op = 0; op != posted; ++op)
      for (std::size_t from = 0; from != threads(); ++from) {
        const std::uint64_t right =
            op % 2 == 0 ? untouched : value(op, from, static_cast<std::size_t>(MYTHREAD));
        wrong += mine_dst_[op * threads() + from] != right;
      }
    expect(wrong == 0, std::to_string(wrong) + " blocks are wrong");
  }

  std::span<upc_coll_handle_t> handles() { return handles_; }
  unsigned count() const { return static_cast<unsigned>(handles_.size()); }

private:
  static constexpr std::uint64_t untouched = 0xeeeeeeeeeeeeeeee;

  std::uint64_t value(unsigned op, std::size_t from, std::size_t to) const {
    return (std::uint64_t{number_} << 48) | (std::uint64_t{op} << 16) | from << 8 | to;
  }
  static upc_shared_ptr_t at(upc_shared_ptr_t area, unsigned op) {
    area.addr += op * threads() * sizeof(std::uint64_t);
    return area;
  }

  const teams& teams_;
  std::vector<upc_coll_handle_t> handles_;
  upc_shared_ptr_t dst_{}, src_{};
  std::uint64_t *mine_dst_, *mine_src_;
  unsigned number_ = 0;
};

// The last thread goes when all others have said that they are ready for it; no collective is involved.
class gate {
public:
  gate() {
    here_[static_cast<std::size_t>(MYTHREAD)] = 0;
    upc_barrier;
  }
  static bool last() { return MYTHREAD == THREADS - 1; }
  void ready() { here_[static_cast<std::size_t>(MYTHREAD)] = 1; }
  void await_others() {
    for (std::size_t t = 0; t + 1 < threads(); ++t)
      while (here_[t] == 0)
        std::this_thread::yield();
  }

private:
  weft::shared_array<int> here_{weft::per_thread(1)};
};

void post_before_the_last_enters(wave& w, gate& g) {
  if (gate::last()) g.await_others();
  w.post_all();
  if (gate::last()) return;
  const int all = static_cast<int>(w.count());
  for (int k = 0; k != 3; ++k)
    expect(upc_testsome(all, w.handles().data()) == 0, "something is complete before the last has entered");
  g.ready();
}

struct memory {
  std::size_t allocated, resident;
};

// What was taken from before the posts until everything was outstanding.
memory play(wave& w, unsigned number) {
  gate g;
  w.fill(number);
  upc_barrier;
  const memory before{allocated(), resident()};
  post_before_the_last_enters(w, g);
  const memory outstanding{allocated(), resident()};
  w.complete_all();
  w.check(w.count());
  return {outstanding.allocated - std::min(before.allocated, outstanding.allocated),
          outstanding.resident - std::min(before.resident, outstanding.resident)};
}

double by_operation(std::size_t bytes) {
  return static_cast<double>(bytes) / full;
}

void many(unsigned team_count) {
  const teams on(team_count);
  wave w(on, full);
  const memory first = play(w, 1);
  if (MYTHREAD == 0)
    std::printf("%u operations outstanding on %u teams: %.0f bytes each allocated, %.0f resident\n", full,
                team_count, by_operation(first.allocated), by_operation(first.resident));
  if (memory_is_known) {
    // The last thread's operations complete while it posts.
    if (!gate::last())
      expect(by_operation(first.allocated) > 64, "the memory of the operations was not seen");
    expect(by_operation(first.allocated) < bytes_allowed, "an operation takes too much memory");
    expect(by_operation(first.resident) < 2 * bytes_allowed, "an operation takes too many pages");
  }

  if (team_count != 1) return;
  const memory second = play(w, 2);
  if (MYTHREAD == 0)
    std::printf("the same again: %zu bytes more allocated, %zu resident\n", second.allocated,
                second.resident);
  // What UCX takes for a connection that is made meanwhile is allowed.
  if (!gate::last()) expect(by_operation(second.allocated) < 8, "the second time takes memory again");
}

bool refused(wave& w, unsigned op) {
  try {
    w.post(op);
  } catch (const weft::error& e) {
    const std::string message = e.what();
    expect(message.find("too many operations are outstanding, WEFT_MAX_OPERATIONS is 500") !=
               std::string::npos,
           "the error is '" + message + "'");
    return true;
  }
  return false;
}

// The last thread stays away until the others have as many outstanding as they may, and were told so.
void cap(unsigned allowed) {
  const teams on(1);
  wave w(on, 2 * allowed);
  gate g;
  w.fill(1);
  upc_barrier;
  if (gate::last()) g.await_others();
  for (unsigned op = 0; op != allowed; ++op)
    w.post(op);
  if (!gate::last()) {
    for (int k = 0; k != 3; ++k)
      expect(refused(w, allowed), "more operations are outstanding than allowed");
    g.ready();
  }
  upc_wait(w.handles()[0]);
  for (unsigned op = allowed; op != 2 * allowed; ++op) { // one for one
    upc_wait(w.handles()[op - allowed]);
    w.post(op);
  }
  w.complete_all();
  w.check(w.count());
}

// One handle is ready, and wherever the search begins others are ready too, and come back at once.
void starve() {
  constexpr unsigned count = 1000, rounds = 20;
  const teams on(1);
  wave w(on, count);
  w.fill(1);
  w.post_all();
  std::vector<upc_coll_handle_t> ready(w.handles().begin(), w.handles().end());
  w.complete_all(); // `ready` has copies: each is reported once more
  for (const unsigned victim : {0u, 1u, 499u, 998u, 999u}) {
    for (const bool waiting : {true, false}) {
      std::vector<upc_coll_handle_t> all = ready;
      unsigned reports = 0;
      for (bool found = false; !found && reports <= rounds * count; ++reports) {
        const int index = waiting ? upc_waitany(count, all.data()) : upc_testany(count, all.data());
        expect(index >= 0, "nothing is ready");
        if (index < 0) return;
        found = static_cast<unsigned>(index) == victim;
        all[static_cast<std::size_t>(index)] = ready[static_cast<std::size_t>(index)];
      }
      expect(reports <= 2 * count, "handle " + std::to_string(victim) + " was reported after " +
                                       std::to_string(reports) + " others only");
    }
  }
  w.check(count);
}

} // namespace

WEFT_SUITE(outstanding) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "cap") setenv("WEFT_MAX_OPERATIONS", "500", 1);
  if (what == "team")
    many(1);
  else if (what == "teams")
    many(8);
  else if (what == "cap")
    cap(500);
  else if (what == "starve")
    starve();
  else
    expect(false, "usage: outstanding team|teams|cap|starve");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
