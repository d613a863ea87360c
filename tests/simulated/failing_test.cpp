// SPDX-License-Identifier: BSD-3-Clause
// One request to the transport fails, the first of a run, then the second, and so on: the operation that made
// it says so, on every rank that it keeps from being right; all others end, and what comes after is whole.
//
// Mutations that this catches: a failed request that counts as done (no error anywhere); one that is
// forgotten (a hang); a failure that the others do not hear of (they hang).
#include "progress/driving/progress_thread.hpp"
#include "testing/threads/threads_transport.hpp"
#include "tests/simulated/failing_sweep.hpp"

#include <optional>
#include <thread>
#include <vector>

namespace weft::tests {
namespace {

// On the threads transport: in real time, in all modes of progress.
class failing_run {
public:
  using net_type = failing_transport<transport::threads_transport>;
  using engine_type = progress::engine<net_type>;

  failing_run(const std::vector<std::uint32_t>& nodes, progress::mode drive, std::uint64_t n, bool late)
      : program_(nodes), drive_(drive), n_(n), late_(late), ranks_(static_cast<std::uint32_t>(nodes.size())),
        fabric_(ranks_, nodes, program_.segment_bytes()) {}

  failing_outcome play() {
    std::vector<std::thread> all;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      all.emplace_back([this, rank] { play_rank(rank); });
    for (std::thread& t : all)
      t.join();
    return {failed_, of_operation_, errors_, right_};
  }

private:
  void play_rank(std::uint32_t rank) {
    net_type net(fabric_, rank);
    progress::engine_options o;
    o.drive = drive_;
    o.idle = {.scarce = true, .spins = 0, .yields = 2};
    engine_type e(net, o);
    progress::channel& team = program_.join(e, rank);
    std::optional<progress::progress_thread<net_type>> thread;
    if (drive_ != progress::mode::caller) thread.emplace(e);
    meet(e);
    if (rank == 0) e.with_ownership([&] { net.fail(n_, late_); });
    errors_ += program_.play(e, team);
    if (net.has_failed()) failed_ = true;
    if (net.was_of_operation()) of_operation_ = true;
    if (rank == 0) e.with_ownership([&] { net.fail(0, false); });
    meet(e);
    right_ += program_.is_right(e, team, rank);
    meet(e);
  }

  void meet(engine_type& e) {
    const std::uint32_t all = (meetings_.fetch_add(1) / ranks_ + 1) * ranks_;
    while (meetings_ < all) {
      e.with_ownership([&e] { e.works().sweep(); });
      std::this_thread::yield();
    }
  }

  const failing_program<transport::threads_transport> program_;
  const progress::mode drive_;
  const std::uint64_t n_;
  const bool late_;
  const std::uint32_t ranks_;
  transport::threads_fabric fabric_;
  std::atomic<std::uint32_t> meetings_{0}, right_{0};
  std::atomic<int> errors_{0};
  std::atomic<bool> failed_{false}, of_operation_{false};
};

struct failing : testing::TestWithParam<std::tuple<by_rank, progress::mode, bool>> {};

TEST_P(failing, the_operation_says_so_and_all_others_go_on) {
  const auto& [nodes, drive, late] = GetParam();
  sweep_requests(static_cast<std::uint32_t>(nodes.size()),
                 [&, &nodes = nodes, &drive = drive, &late = late](std::uint64_t n) {
                   return failing_run(nodes, drive, n, late).play();
                 });
}

INSTANTIATE_TEST_SUITE_P(requests, failing,
                         testing::Combine(failing_places,
                                          testing::Values(progress::mode::dedicated, progress::mode::helping,
                                                          progress::mode::caller),
                                          testing::Bool()));

} // namespace
} // namespace weft::tests
