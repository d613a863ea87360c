#pragma once
#include "tests/modes/arena.hpp"

namespace modes {

// One rank's call of a trial, in steps.
class call {
public:
  call(const trial& t, const arena& a) : trial_(t), arena_(a) {}

  // The exchange that is under way meanwhile, if the trial wants one.
  void begin_aside();
  void finish_aside();
  // Posts it, or does whatever of it must not wait for others.
  void make();
  // True if left() can look without waiting.
  bool can_be_asked() const { return asynchronous() || trial_.what.op == operation::team_barrier_nb; }
  // Moves it on and looks.
  bool left();
  // What returns when all have entered, where a function has that.
  void enter_with_all();
  // Waits; to be called unless left() was true.
  void finish();

private:
  bool asynchronous() const { return trial_.what.has_modes && trial_.how == form::posted; }
  upc_coll_handle_t collective();
  upc_coll_handle_t extended();
  upc_coll_handle_t plain();

  const trial& trial_;
  const arena& arena_;
  upc_coll_handle_t handle_ = UPC_HANDLE_COMPLETE;
  upc_coll_handle_t aside_ = UPC_HANDLE_COMPLETE;
  upc_handle_t cray_ = UPC_COMPLETE_HANDLE;
};

} // namespace modes
