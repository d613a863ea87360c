// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/modes/arena.hpp"

namespace modes {

// One rank's call of a trial, in steps.
class call {
public:
  call(const trial& t, const arena& a) : trial_(t), arena_(a), made_(a.call_of(t)) {}

  // The exchange that is under way meanwhile, if the trial wants one.
  void begin_aside() {
    if (trial_.behind) aside_ = post(arena_.call_aside());
  }
  void finish_aside() { upc_wait(aside_); }
  // Posts it, or does whatever of it must not wait for others.
  void make();
  // True if left() can look without waiting.
  bool can_be_asked() const { return made_.async || trial_.what.wait == barrier::of_team_nb; }
  // Moves it on and looks.
  bool left() { return made_.async ? upc_test(handle_) > 0 : upc_sync_attempt(cray_) != 0; }
  // What returns when all have entered, where a function has that.
  void enter_with_all() {
    if (local()) cray_ = post(made_);
  }
  // Waits; to be called unless left() was true.
  void finish();

private:
  bool local() const { return trial_.what.fixed_out() == out_mode::local; }
  unsigned long long post(const calls::call& c) const;

  const trial& trial_;
  const arena& arena_;
  const calls::call made_;
  upc_coll_handle_t handle_ = UPC_HANDLE_COMPLETE;
  upc_coll_handle_t aside_ = UPC_HANDLE_COMPLETE;
  upc_handle_t cray_ = UPC_COMPLETE_HANDLE;
};

} // namespace modes
