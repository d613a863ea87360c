// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/helpers.hpp"
#include "tests/calls/report.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// The operations that are in flight on this rank, completed by every function that there is, in any order.
namespace calls {

inline constexpr std::size_t no_call = static_cast<std::size_t>(-1);

class completions {
public:
  // `left` is told of every call whose exit has been seen. Some of them `others` may complete.
  completions(dice& d, report& tell, helpers& others, std::function<void(std::size_t)> left)
      : d_(d), tell_(tell), others_(others), left_(std::move(left)) {}

  void add(unsigned long long handle, std::size_t call);        // for upc_wait and its family
  void add_nb(unsigned long long handle, std::size_t call);     // for upc_sync
  void add_nbi(std::size_t call) { implicit_.push_back(call); } // for upc_synci

  // One call of a completion function, drawn by the dice.
  void turn();
  // Of any one operation under way the end.
  void finish_one();
  std::size_t size() const { return open_.size() + nb_.size(); }
  // A call that may be under way, if there is one.
  std::size_t any_open() { return open_.empty() ? no_call : d_.pick(open_).call; }
  // All of it.
  void finish();
  // What has been completed, for the message of a hang.
  std::string open() const;

private:
  struct operation {
    unsigned long long handle;
    std::size_t call;
    bool resting;                 // left alone until the end
    std::shared_ptr<batch> given; // which a helper completes
  };

  std::vector<operation*> awake();
  void turn_several();
  void turn_nb();
  void turn_nbi();
  void give_away();
  void collect(bool wait);
  void sync(std::size_t nb);
  // Completes these, or some, or none; closes those that are complete.
  template <class Call> void with(handles list, Call&& call);
  void close(unsigned long long handle);

  dice& d_;
  report& tell_;
  helpers& others_;
  std::function<void(std::size_t)> left_;
  std::vector<operation> open_;
  std::vector<operation> nb_;
  std::vector<std::size_t> implicit_;
  std::vector<unsigned long long> stale_;
};

} // namespace calls
