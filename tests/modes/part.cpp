// SPDX-License-Identifier: BSD-3-Clause
#include "tests/modes/part.hpp"

#include "tests/modes/call.hpp"
#include "tests/modes/operands.hpp"

#include <cstdlib>
#include <weft/weft.hpp>

namespace modes {
namespace {

using namespace std::chrono_literals;

// How often a rank looks, when all the others have called, before it is believed to wait: what is wrong has
// so many turns to show.
constexpr int looks = 12;

class part {
public:
  part(stage& s, const arena& a, const trial& t)
      : stage_(s), arena_(a), trial_(t), mine_(t, a), call_(t, a) {}

  void play() {
    mine_.prepare();
    stage_.watch(trial_);
    stage_.barrier();
    trial_.late == MYTHREAD ? come_late() : come_early();
    stage_.barrier();
    if (const char* fault = mine_.fault_at_end()) complain(fault);
  }

private:
  bool is_now(const stage::word& w) const { return w.load() == trial_.number; }
  void note(stage::word& w) const { w.store(trial_.number); }
  stage::actor& me() { return stage_.of(MYTHREAD); }
  void complain(const std::string& what) {
    stage_.complain(trial_, "rank " + std::to_string(MYTHREAD) + ": " + what);
  }

  void come_early() {
    call_.begin_aside();
    mine_.give();
    call_.make();
    note(me().called);
    const bool gone = call_.can_be_asked() && ask();
    if (!gone) {
      call_.enter_with_all();
      if (trial_.what.fixed_out() == out_mode::local) leaves_rightly();
      call_.finish();
      leave();
    }
    call_.finish_aside();
  }

  // Looks until the operation is left, or nothing will happen any more without the late rank. True if left.
  bool ask() {
    bool gone = false;
    for (int i = 0; !is_now(stage_.late_comes());) {
      if (!gone && call_.left()) {
        leave();
        gone = true;
      }
      const bool alone = !all_have_called();
      if (!alone) ++i;
      if (alone || i > looks / 3) rest();
      if ((gone || i >= looks) && !is_now(me().patient) && arrived_blocks_are_here()) {
        if (!gone || trial_.out == out_mode::no) check_early_touch();
        note(me().patient);
      }
      if (gone && is_now(me().patient)) return true;
    }
    return gone;
  }

  bool all_have_called() {
    for (int rank = 0; rank < THREADS; ++rank)
      if (rank != trial_.late && !is_now(stage_.of(rank).called)) return false;
    return true;
  }

  // Blocks between ranks that have entered need no other rank.
  bool arrived_blocks_are_here() {
    const bool all_pairs = trial_.what.shape() == pattern::all_pairs;
    if (!trial_.what.has_data() || trial_.in == in_mode::all) return true;
    if (waits_along_its_cycle(trial_, near_)) return true;
    if (trial_.out == out_mode::all && !all_pairs) return true;
    const bool taken_back = is_now(me().left) && trial_.out == out_mode::my;
    return taken_back || mine_.full_without(trial_.late);
  }

  void check_early_touch() {
    if (!trial_.what.has_data() || trial_.in != in_mode::all || is_now(stage_.late_comes())) return;
    if (!mine_.untouched() && !is_now(stage_.late_comes()))
      complain("its destination was written before all had entered");
  }

  // At an exit: had the late one to be waited for, and has it come?
  void leaves_rightly() {
    const bool must = MYTHREAD != trial_.late && verdict_on(MYTHREAD) == verdict::must;
    if (must && !is_now(stage_.late_comes())) complain("has left before the late rank had entered");
  }

  void leave() {
    leaves_rightly();
    if (trial_.what.has_data() && trial_.out != out_mode::no && !mine_.full())
      complain("has left, but its destination is not full or wrong");
    if (trial_.what.has_data() && trial_.out == out_mode::all && !mine_.next_is_full())
      complain("has left, but the destination of the next rank is not full or wrong");
    mine_.take_back();
    note(me().left);
  }

  void come_late() {
    const auto patience = stage_.violations().load() == 0 ? 10'000ms : 1'000ms;
    if (!wait_for([&] { return nobody_moves(); }, patience)) blame();
    if (!call_.can_be_asked()) // who blocks cannot tell how often it has looked
      for (int i = 0; i < looks; ++i)
        rest();
    if (trial_.what.has_data() && trial_.in != in_mode::no && !mine_.untouched())
      complain("its destination was written before it had entered");
    mine_.give();
    mine_.give_for_all();
    note(stage_.late_comes());
    call_.begin_aside();
    call_.make();
    note(me().called);
    call_.enter_with_all();
    call_.finish();
    leave();
    call_.finish_aside();
  }

  // Of this rank, or by the late one of another: what is sent ahead is decided by how one reaches the other.
  verdict verdict_on(int rank) const {
    situation s = trial_;
    s.small = trial_.bytes <=
              (near_(rank == MYTHREAD ? trial_.late : rank) ? trial::small_bytes : trial_.sent_ahead);
    return judge(s, rank, near_);
  }
  bool free(int rank) const { return verdict_on(rank) == verdict::free; }
  bool settled(int rank) {
    stage::actor& a = stage_.of(rank);
    if (free(rank) && !is_now(a.left)) return false;
    return call_.can_be_asked() ? is_now(a.patient) : is_now(a.called);
  }

  // Without this rank.
  bool nobody_moves() {
    for (int rank = 0; rank < THREADS; ++rank)
      if (rank != MYTHREAD && !settled(rank)) return false;
    return true;
  }

  void blame() {
    for (int rank = 0; rank < THREADS; ++rank) {
      if (rank == MYTHREAD || settled(rank)) continue;
      const std::string name = "rank " + std::to_string(rank);
      if (!is_now(stage_.of(rank).called))
        stage_.complain(trial_, name + " is held up in its post");
      else if (free(rank) && !is_now(stage_.of(rank).left))
        stage_.complain(trial_, name + " is held up, and must not be");
      else
        stage_.complain(trial_, name + " lacks a block of a rank that has entered, as it has itself");
    }
  }

  stage& stage_;
  const arena& arena_;
  const trial& trial_;
  operands mine_;
  call call_;
  const neighbourhood near_ = [this](int rank) { return arena_.near(rank); };
};

} // namespace

void play(stage& s, const arena& a, const trial& t) {
  try {
    part(s, a, t).play();
  } catch (const weft::error& e) { // the others cannot go on without this rank
    s.complain(t, "rank " + std::to_string(MYTHREAD) + ": " + e.what());
    std::_Exit(1);
  }
}

} // namespace modes
