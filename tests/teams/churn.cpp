// SPDX-License-Identifier: BSD-3-Clause
// Teams made and freed in random order, many alive at once: teams of teams, members that free long after the
// others, teams that are freed with operations outstanding, and an end of the job right behind the last free.
//
//   churn TEAMS ALIVE POSTED SEED    so many teams in all, so many alive at the most, so many operations
//                                    posted and not completed on a thread at the most
//
// All threads play the same script from one seed, so each knows every team; when it frees one of its own, and
// when it completes what it posted, is its own whim.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <upc_castable.h>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool ok, const char* what) {
  if (ok) return;
  std::printf("thread %d of %d: %s\n", int(MYTHREAD), int(THREADS), what);
  ++failures;
}

struct team {
  std::uint64_t number = 0;
  std::vector<int> members; // by rank
  upc_team_t handle = 0;    // 0: not mine
};

// A gather-all of one word a member, each in memory of its own.
class words {
public:
  explicit words(int places) : free_(static_cast<std::size_t>(places)) {
    for (std::size_t k = 0; k != free_.size(); ++k)
      free_[k] = k;
    posted_.reserve(free_.size());
  }
  bool room() const { return !free_.empty(); }

  void post(const team& t) {
    const std::size_t place = free_.back();
    free_.pop_back();
    mine(src_, place)[0] = word(t, MYTHREAD);
    const upc_shared_ptr_t d = at(dst_, place, t.members.front()), s = at(src_, place, t.members.front());
    posted_.push_back({upc_all_gather_all(d, s, sizeof(std::uint64_t),
                                          UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC, t.handle),
                       place, t});
  }

  template <class Chance> void complete_some(Chance&& chance) {
    for (std::size_t k = 0; k < posted_.size();)
      if (chance())
        complete(k);
      else
        ++k;
  }
  // What others post may wait for threads that come late: no thread may hold back what they need.
  void complete_all() {
    complete_some([] { return true; });
  }

private:
  struct posted {
    upc_coll_handle_t handle;
    std::size_t place;
    team of;
  };
  static std::uint64_t word(const team& t, int thread) {
    return t.number * 1000 + static_cast<std::uint64_t>(thread);
  }
  static constexpr std::size_t widest = 64;
  static constexpr std::size_t places = 16;
  static constexpr std::size_t row = widest * sizeof(std::uint64_t);

  static upc_shared_ptr_t at(upc_shared_ptr_t p, std::size_t place, int thread) {
    p = upc_ptradd(p, 1, places * row, thread);
    p.addr += place * row;
    return p;
  }
  static std::uint64_t* mine(upc_shared_ptr_t p, std::size_t place) {
    return static_cast<std::uint64_t*>(upc_cast(at(p, place, MYTHREAD)));
  }

  void complete(std::size_t k) {
    posted p = std::move(posted_[k]);
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(k));
    upc_wait(p.handle);
    bool ok = true;
    for (std::size_t r = 0; r != p.of.members.size(); ++r)
      ok = ok && mine(dst_, p.place)[r] == word(p.of, p.of.members[r]);
    expect(ok, "what the members of a team gave");
    free_.push_back(p.place);
  }

  upc_shared_ptr_t src_ = upc_all_alloc(THREADS, places*row), dst_ = upc_all_alloc(THREADS, places*row);
  std::vector<std::size_t> free_;
  std::vector<posted> posted_;
};

class script {
public:
  script(std::uint64_t teams, std::size_t alive, int posted, unsigned seed)
      : teams_(teams), most_(alive), words_(posted), common_(seed),
        own_(seed * 64u + static_cast<unsigned>(MYTHREAD)) {
    everybody_.handle = UPC_TEAM_ALL;
    for (int t = 0; t != THREADS; ++t)
      everybody_.members.push_back(t);
  }

  void play() {
    while (made_ < teams_ && failures == 0) {
      const bool full = alive_.size() + dying_.size() + static_cast<std::size_t>(THREADS) > most_;
      if (full || common_() % 64 == 0) shrink_a_little();
      grow();
      bury();
      words_.complete_some([&] { return own_() % 4 == 0; });
    }
    words_.complete_all();
    for (const team& t : late_)
      free(t);
    for (const team& t : alive_) // or not at all
      if (common_() % 2 == 0) free(t);
  }

private:
  static constexpr std::size_t patience = 40; // frees that the free of another thread may come after

  // Near the most, all take part: so every thread has freed what memory is needed of.
  void grow() {
    const bool tight = alive_.size() + dying_.size() + 3 * static_cast<std::size_t>(THREADS) > most_;
    const bool of_a_team = !tight && !alive_.empty() && common_() % 4 == 0;
    const team parent = of_a_team ? alive_[common_() % alive_.size()] : everybody_;
    const unsigned colors = 1 + common_() % 3;
    const bool backwards = common_() % 2 == 0;
    std::vector<team> fresh(colors);
    unsigned my_color = 0;
    for (const int thread : parent.members) {
      const unsigned color = common_() % colors;
      if (thread == MYTHREAD) my_color = color;
      fresh[color].members.push_back(thread);
    }
    if (parent.handle != 0) {
      words_.complete_all();
      upc_team_t handle = 0;
      const int key = backwards ? -MYTHREAD : 0;
      expect(cray_upc_team_split(parent.handle, static_cast<int>(my_color), key, &handle) == CRAY_UPC_SUCCESS,
             "there is room for one more team");
      fresh[my_color].handle = handle;
    }
    for (team& t : fresh) {
      if (t.members.empty()) continue;
      t.number = ++made_;
      if (backwards) std::sort(t.members.rbegin(), t.members.rend());
      use(t);
      alive_.push_back(std::move(t));
    }
  }

  void use(const team& t) {
    const bool barrier = common_() % 8 == 0, post = common_() % 2 == 0;
    if (t.handle == 0 || failures != 0) return;
    if (barrier) cray_upc_team_barrier(t.handle);
    if (post && t.members.size() <= 64) {
      if (!words_.room()) words_.complete_all();
      words_.post(t);
    }
  }

  void shrink_a_little() {
    for (std::size_t gone = std::min<std::size_t>(alive_.size(), 1 + common_() % 20); gone-- != 0;) {
      const std::size_t which = common_() % alive_.size();
      std::swap(alive_[which], alive_.back());
      const team t = std::move(alive_.back());
      alive_.pop_back();
      dying_.push_back(t.number);
      if (t.handle != 0 && own_() % 8 == 0)
        late_.push_back(t);
      else
        free(t);
    }
  }

  // What a thread may not have freed yet counts as alive.
  void bury() {
    while (dying_.size() > patience) {
      const std::uint64_t number = dying_.front();
      dying_.pop_front();
      const auto found =
          std::find_if(late_.begin(), late_.end(), [&](const team& t) { return t.number == number; });
      if (found == late_.end()) continue;
      free(*found);
      late_.erase(found);
    }
  }

  static void free(const team& t) {
    if (t.handle != 0) cray_upc_team_free(t.handle);
  }

  const std::uint64_t teams_;
  const std::size_t most_;
  std::uint64_t made_ = 0;
  words words_;
  std::minstd_rand common_, own_;
  team everybody_;
  std::vector<team> alive_;
  std::deque<std::uint64_t> dying_;
  std::vector<team> late_;
};

} // namespace

WEFT_SUITE(teams_churn) {
  const auto number = [&](int k, int otherwise) { return argc > k ? std::atoi(argv[k]) : otherwise; };
  script(static_cast<std::uint64_t>(number(1, 5000)), static_cast<std::size_t>(number(2, 200)), number(3, 8),
         static_cast<unsigned>(number(4, 1)))
      .play();
  if (MYTHREAD == 0 && failures == 0) std::printf("all teams came and went\n");
  return failures == 0 ? 0 : 1;
}
