#pragma once
#include "tests/soak/helpers.hpp"
#include "tests/soak/issue.hpp"
#include "tests/soak/watch.hpp"

#include <atomic>
#include <list>
#include <mutex>

namespace soak {

// Lives the life of one thread of a job: rounds of calls, each with a barrier before and after it.
//
// Why no round can stop: a thread waits only for calls that it has posted. Of the thread that is farthest
// behind, all others have posted whatever it waits for.
//
// A berth is used again within a round by calls that keep to MY or ALL on both sides, as soon as this thread
// has left the call before. A call with NO on either side has a berth for the whole round: its operands are
// in place before the barrier that begins the round, and looked at behind the one that ends it.
class player {
public:
  struct options {
    character job;
    std::string pulses;
    unsigned patience = 20;
    bool hold = false, corrupt = false;
  };
  explicit player(const options& chosen);

  void play_round(std::uint64_t round);
  std::uint64_t calls() const { return calls_; }

private:
  struct under_way {
    call what;
    unsigned long long handle;
    std::shared_ptr<batch> given; // somebody else completes it
  };
  using place = std::list<under_way>::iterator;

  void split_teams(std::uint64_t round);
  void prepare_loose(const std::vector<call>& calls);
  void post(const call& c);
  void be_late();
  void complete_some();
  void complete_all();
  void give_away();
  void finish(place p);
  void collect(bool wait);
  void meet();
  void leave(const call& c);
  void look(const call& c);
  std::uint32_t my_rank(const call& c) const;
  void doing(const char* what) {
    doing_.store(what, std::memory_order_relaxed);
    watch_.beat();
  }
  unsigned style(unsigned of);
  std::string report();

  const character job_;
  const std::uint32_t me_;
  const bool corrupt_;
  berths memory_;
  std::vector<members> teams_;
  std::vector<upc_team_t> team_handles_;
  dice luck_;
  std::uint64_t round_ = 0, calls_ = 0;
  std::mutex lock_; // of what the report reads: open_ as a list, and posting_
  std::list<under_way> open_;
  call posting_;
  bool in_call_ = false;
  std::atomic<const char*> doing_{"starting"};
  watch watch_;
  helpers helpers_;
};

} // namespace soak
