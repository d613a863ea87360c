// The two ways in which this example transposes: the same core, another overlap.
#pragma once

#include "examples/ft/ft_core.hpp"

#include <chrono>

namespace ft {

// Seconds that this thread has spent in transpositions so far.
struct transposition_times {
  double moving = 0;  // packing, library calls, unpacking
  double waiting = 0; // library calls alone
};

// Adds the time of a scope to a sum.
class stopwatch {
public:
  explicit stopwatch(double& total) : total_(total) {}
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;
  ~stopwatch() { total_ += std::chrono::duration<double>(clock::now() - begin_).count(); }

private:
  using clock = std::chrono::steady_clock;
  double& total_;
  clock::time_point begin_ = clock::now();
};

class timed_transposition : public transposition {
public:
  const transposition_times& times() const { return times_; }
  void reset_times() { times_ = {}; }

protected:
  transposition_times times_;
};

// Transforms the whole slab, then moves it with one blocking upc_all_exchange.
std::unique_ptr<timed_transposition> make_blocking(const problem& p);

// Cuts the slab into `pieces` (no more than it has planes): while one piece travels by
// cray_upc_team_alltoall_nb, the next one is transformed and the one before is unpacked.
std::unique_ptr<timed_transposition> make_pipelined(const problem& p, std::size_t pieces);

} // namespace ft
