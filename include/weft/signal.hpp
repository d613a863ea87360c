// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "array.hpp"
#include "completion.h"
#include "signal.h"
#include "spans.hpp"
#include "synchronization_calls.h"
#include "tile.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace weft {

// Counters on each rank that others raise behind what they put there, for exchanges without a barrier:
//
//   weft::array<double> halo(n);
//   weft::signals arrived;
//   weft::pending p = arrived.put(halo.on(right), edge); // copies, then adds 1 to the counter of `right`
//   arrived.wait(1);                                     // the first copy to this rank is in place
//
// They begin at 0 and only rise, so wait(n) of the n-th round needs no reset. Construction and destruction
// are collective. A rank that sees a counter by wait or test sees all of the copies that it counts. A signal
// may be on its way when its put is complete: construction waits for all ranks, and destruction on each rank
// for all that were sent to it, so that none changes memory that is another array's by then. They may be
// moved, by all ranks alike; while an exception unwinds the stack their memory stays.
class signals {
public:
  explicit signals(std::size_t count = 1)
      : words_(count), sent_(static_cast<std::size_t>(upc_threads())),
        exceptions_(std::uncaught_exceptions()) {
    std::ranges::fill(words_, std::uint64_t{0});
    weft_barrier();
  }
  signals(signals&&) noexcept = default;
  signals& operator=(signals&& other) noexcept {
    if (this == &other) return *this;
    await_all();
    words_ = std::move(other.words_);
    sent_ = std::move(other.sent_);
    exceptions_ = other.exceptions_;
    return *this;
  }
  ~signals() { await_all(); }

  std::size_t size() const noexcept { return words_.size(); }

  // Copies `from`, of as many elements, and adds 1 to counter `which` of the rank that `to` is on. `from`
  // must not be changed until the pending is complete. Errors: of other length; no such rank or counter.
  template <class T, std::ranges::contiguous_range R>
  pending put(const remote_span<T>& to, const R& from, std::size_t which = 0,
              line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    static_assert(std::is_same_v<std::remove_cv_t<std::ranges::range_value_t<R>>, std::remove_cv_t<T>>,
                  "elements of one type");
    const std::size_t count = std::ranges::size(from);
    if (count != to.size()) [[unlikely]]
      detail::fail_length("weft::signals::put", "from", count,
                          "must be as many as `to` has, " + std::to_string(to.size()) + ": pass a subspan");
    return counted(to.rank(), 1,
                   weft_put_signal(to.data(), std::ranges::data(from), count * sizeof(T),
                                   at("weft::signals::put", "to.rank()", to.rank(), which), 1,
                                   WEFT_SIGNAL_ADD));
  }
  // The same of rows of elements, of a tile of the same shape.
  template <class T>
  pending put(const remote_tile<T>& to, const std::type_identity_t<tile<const T>>& from,
              std::size_t which = 0, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    to.shape().require_equal("weft::signals::put", "from", from.shape());
    return counted(to.rank(), 1,
                   weft_put_rows(to.data(), sizeof(T) * to.width(), from.data(), sizeof(T) * from.width(),
                                 sizeof(T) * to.columns(), to.rows(),
                                 at("weft::signals::put", "to.rank()", to.rank(), which), 1,
                                 WEFT_SIGNAL_ADD));
  }
  // Only the counter, of a rank of the job.
  void raise(int rank, std::size_t which = 0, std::uint64_t by = 1,
             line_of_call where = line_of_call::here()) const {
    pending raised;
    {
      const detail::at_site here(where);
      raised = counted(rank, by,
                       weft_put_signal({}, nullptr, 0, at("weft::signals::raise", "rank", rank, which), by,
                                       WEFT_SIGNAL_ADD));
    }
    raised.wait(where);
  }

  // Returns when the calling rank's counter is `count` or more: what it is. test does not wait.
  std::uint64_t wait(std::uint64_t count, std::size_t which = 0,
                     line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    return weft_wait_until(own("weft::signals::wait", which), WEFT_CMP_GE, count);
  }
  bool test(std::uint64_t count, std::size_t which = 0, line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    return weft_test_until(own("weft::signals::test", which), WEFT_CMP_GE, count) != 0;
  }

private:
  upc_shared_ptr_t at(const char* call, const char* argument, int rank, std::size_t which) const {
    const int ranks = upc_threads();
    if (rank < 0 || rank >= ranks) [[unlikely]]
      throw error(call, argument, std::to_string(rank),
                  "must be a rank of the job, 0 to " + std::to_string(ranks - 1));
    if (which >= size()) [[unlikely]]
      throw error(call, "which", std::to_string(which),
                  size() == 0 ? "there is no counter: the signals were moved from, or made with none"
                              : "must be a counter, 0 to " + std::to_string(size() - 1));
    return words_.on(rank).subspan(which, 1).data();
  }
  upc_shared_ptr_t own(const char* call, std::size_t which) const {
    return at(call, "rank", upc_mythread(), which);
  }

  // A call that was an error has sent nothing.
  pending counted(int rank, std::uint64_t by, upc_coll_handle_t put) const {
    sent_[static_cast<std::size_t>(rank)] += by;
    return pending(put);
  }
  // Returns when all that was sent to the calling rank is in its counters.
  void await_all() const noexcept {
    if (size() == 0 || detail::own().ranks == 0 || std::uncaught_exceptions() != exceptions_) return;
    std::vector<std::uint64_t> come(sent_.size());
    weft::exchange(come, sent_).wait();
    const auto all = std::reduce(come.begin(), come.end());
    const auto seen = [&] {
      std::uint64_t sum = 0;
      for (std::uint64_t& word : words_.local())
        sum += std::atomic_ref(word).load(std::memory_order_acquire);
      return sum;
    };
    while (seen() != all) {
      weft_poll();
      std::this_thread::yield();
    }
  }

  array<std::uint64_t> words_;
  mutable std::vector<std::uint64_t> sent_; // by rank, the sum of what was added to its counters
  int exceptions_;
};

} // namespace weft
