// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"
#include "progress/execution/series.hpp"

#include <algorithm>
#include <new>
#include <span>

namespace weft::progress {

// Posts a series of operations, see series.hpp. Its operations but the last are the engine's own.
template <class Engine> class series_posts {
public:
  using bound_request = collectives::bound_request;

  explicit series_posts(Engine& e) : e_(e) {}

  // The handle of the last; 0 when as many as allowed are outstanding. What throws does so before anything is
  // entered.
  std::uint64_t post(channel& team, std::span<const bound_request> series) {
    reserved_handle h(e_.table_);
    if (h.value() == 0) return 0;
    posted& last = e_.operations_.at(completion_table::index(h.value()));
    const bool takes = e_.polls_by_calls() && !is_copied(series);
    listening_alone quiet;
    e_.with_ownership([&] {
      if (takes) quiet.begin(e_.watching());
      const auto before = series.first(series.size() - 1);
      weft::engine::fifo<operation> all = make(team, before, last);
      equip(last, team, series.back(), last);
      last.handle = h.value();
      last.series_left = static_cast<std::uint32_t>(series.size());
      all.push(last);
      while (!all.empty())
        begin(static_cast<posted&>(all.pop()));
      // What has come over sockets meanwhile wakes no thread: a message of each operation, or there is none.
      for (std::size_t k = 0; takes && k != series.size() && e_.executor_.sweep(); ++k)
        ;
      if (!e_.leaves_something()) quiet.end_call(false);
    });
    return h.release();
  }

  // One is over: the last, if all are.
  posted* end(posted& op) {
    auto& last = static_cast<posted&>(*op.series);
    const bool all = series::end(op);
    if (&op != &last) e_.parts_.give_back(op);
    return all ? &last : nullptr;
  }

private:
  // Parts of the operands of a long one are copied behind the post, which a sweep would do.
  static bool is_copied(std::span<const bound_request> series) {
    return std::ranges::any_of(
        series, [](const bound_request& r) { return r.at.task != nullptr && r.at.task->aside != nullptr; });
  }
  void equip(posted& op, channel& team, const bound_request& r, posted& last) {
    op.prepare(team, r.of, r.at);
    if (r.at.task != nullptr) op.keep(*r.at.task);
    op.lent = e_.options_.drive != mode::dedicated;
    op.series = &last;
  }
  weft::engine::fifo<operation> make(channel& team, std::span<const bound_request> some, posted& last) {
    weft::engine::fifo<operation> made;
    const auto give_back = [&] {
      while (!made.empty())
        e_.parts_.give_back(static_cast<posted&>(made.pop()));
    };
    try {
      for (const bound_request& r : some) {
        posted* const op = e_.parts_.take();
        if (op == nullptr) throw std::bad_alloc();
        made.push(*op);
        equip(*op, team, r, last);
      }
    } catch (...) {
      give_back();
      throw;
    }
    return made;
  }
  void begin(posted& op) {
    e_.begin_entered(op);
    if (op.run == nullptr || !op.program->prompt) e_.is_left_to_watcher();
    if (op.run != nullptr) e_.executor_.issue(op);
  }

  Engine& e_;
};

} // namespace weft::progress
