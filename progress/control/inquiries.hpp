// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/heap.hpp"
#include "progress/control/requests.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace weft::control {

// Questions of this rank's threads to ranks, this one among them, each of which is answered by one message,
// perhaps after long: any number at a time. A rank that asks drives, or sleeps, until the answer is there or
// the rank that was asked has died.
//
// What is served, and the list of those that wait, is under progress ownership. The answer is written before
// `heard` (release), and read behind it (acquire).
template <transport::transport T> class inquiries {
public:
  using engine_type = progress::engine<T>;
  struct reply {
    std::uint64_t status = 0;
    std::array<std::uint64_t, 2> value{};
  };
  // How a request is served that this rank asks of itself.
  using server = std::function<void(std::uint32_t from, const request&)>;

  inquiries(engine_type& engine, heap_service<T>& heap) : engine_(engine), heap_(heap) {}
  void serve_own_by(server s) { serve_ = std::move(s); }

  template <class Request> reply ask(std::uint32_t peer, Request r) {
    return ask(peer, r, [] { return std::string(); });
  }
  // `more` is what a report says besides of a wait that lasts.
  template <class Request, class More> reply ask(std::uint32_t peer, Request r, More more) {
    asked_for<Request, More> mine(peer, r, more);
    engine_.with_ownership([&] {
      r.id = mine.id = ++ids_;
      begin(mine);
      if (hand_to(peer, r)) return;
      end(mine);
      throw std::bad_alloc();
    });
    const auto heard = [&] { return mine.heard.load(std::memory_order_acquire); };
    engine_.drive_until([&] { return heard() || heap_.lost(peer); });
    if (!heard()) give_up(mine, peer);
    return mine.said;
  }

  // Under progress ownership. False for want of memory.
  template <class Request> bool hand_to(std::uint32_t peer, const Request& r) {
    if (peer != engine_.net().rank()) return heap_.send(peer, r);
    serve_(peer, r);
    return true;
  }
  void answer(std::uint32_t peer, std::uint64_t id, const reply& said) {
    if (!hand_to(peer, answered{id, said.status, said.value}))
      engine::end_out_of_memory("an answer to another rank");
  }
  // No rank waits any more for one that is late, or came twice.
  void on_request(std::uint32_t, const answered& a) {
    const auto found = std::ranges::find(waiting_, a.id, &waiting::id);
    if (found == waiting_.end()) return;
    waiting& w = **found;
    end(w);
    w.said = {a.status, a.value};
    w.heard.store(true, std::memory_order_release); // the last touch
    engine_.wake();
  }

private:
  struct waiting : progress::awaited_answer {
    std::uint64_t id = 0;
    reply said;
    std::atomic<bool> heard{false};

  protected:
    ~waiting() = default;
  };
  template <class Request, class More> struct asked_for final : waiting {
    asked_for(std::uint32_t w, const Request& r, More& m) : peer(w), what(r), more(m) {}
    std::string text() const override { return wait_text(peer, what) + more(); }
    std::uint32_t peer;
    const Request& what;
    More& more;
  };

  void begin(waiting& w) {
    waiting_.push_back(&w);
    try {
      engine_.works().answers().add(w);
    } catch (...) {
      waiting_.pop_back();
      throw;
    }
  }
  void end(waiting& w) noexcept {
    std::erase(waiting_, &w);
    engine_.works().answers().remove(w);
  }

  // An answer may have come before the news of a death.
  [[gnu::cold, gnu::noinline]] void give_up(waiting& mine, std::uint32_t peer) {
    engine_.with_ownership([&] { end(mine); });
    if (!mine.heard.load(std::memory_order_acquire))
      throw progress::operation_error("thread " + std::to_string(peer) + ", which had to answer, " +
                                      heap_.fate_of(peer).words);
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  server serve_;
  std::uint64_t ids_ = 0;
  std::vector<waiting*> waiting_;
};

} // namespace weft::control
