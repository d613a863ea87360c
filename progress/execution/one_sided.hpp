// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "progress/execution/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace weft::progress {

// What one rank asks for alone: bytes from or to another's segment, or between those of two others. Ranks are
// ranks of the job, `from` and `to` are offsets in their segments.
struct one_sided_request {
  enum class kind : std::uint8_t { get, put, set, copy };

  kind what = kind::get;
  std::uint32_t from_rank = 0, to_rank = 0;
  std::uint64_t from = 0, to = 0;
  void* into = nullptr;         // of a get
  const void* out_of = nullptr; // of a put
  unsigned char value = 0;      // of a set
  std::uint64_t bytes = 0;
  // Of a get or put: rows of bytes / rows each, whose beginnings are so many bytes apart, here and there.
  std::uint64_t rows = 1, apart_here = 0, apart_there = 0;
  // Behind a put, also of no bytes: what becomes of a word of the same rank, once they are in place.
  struct raised {
    std::uint64_t offset = 0, value = 0; // 0: there is none
    bool adds = false;
  };
  raised signal{};

  static one_sided_request get(void* into, std::uint32_t rank, std::uint64_t from, std::uint64_t bytes) {
    return {.what = kind::get, .from_rank = rank, .from = from, .into = into, .bytes = bytes};
  }
  static one_sided_request put(std::uint32_t rank, std::uint64_t to, const void* out_of,
                               std::uint64_t bytes) {
    return {.what = kind::put, .to_rank = rank, .to = to, .out_of = out_of, .bytes = bytes};
  }
  static one_sided_request set(std::uint32_t rank, std::uint64_t to, unsigned char value,
                               std::uint64_t bytes) {
    return {.what = kind::set, .to_rank = rank, .to = to, .value = value, .bytes = bytes};
  }
};

// One of them on its way: which request of the transport comes next, or is under way.
//
//   get    get
//   put    put, flush
//   set    put, put, ..., flush            a piece at a time, all out of one buffer
//   copy   get, put, get, put, ..., flush  the same, by way of it
//
// Before a signal put, order, flush: the message that raises it goes behind the order, so it finds the bytes
// in place; the flush says here that they are. Of several rows the gets or puts are one for each row, a few
// of them at a time. To a rank that is reached by messages short rows go packed, as many as have room in one
// message, whose handler puts each in its place.
struct one_sided : transport::completion {
  enum class step : std::uint8_t { get, put, order, flush, over };
  static constexpr std::uint64_t bounce_bytes = 64 * 1024, rows_at_once = 16;
  struct row : transport::completion {
    one_sided* of = nullptr;
    bool under_way = false;
  };

  one_sided_request asked;
  std::uint64_t handle = 0;
  step at = step::get;
  std::uint64_t moved = 0; // bytes of the pieces that are through
  int status = 0;          // what it failed with
  void* owner = nullptr;
  std::unique_ptr<std::byte[]> bounce;
  std::unique_ptr<row[]> in_flight;    // of several rows: rows_at_once of them
  std::uint64_t rows_together = 1;     // of them that may go in one message
  std::unique_ptr<std::byte[]> packed; // of a put: room for those of each message, once one is packed
  std::uint64_t next_row = 0;
  std::uint32_t rows_under_way = 0;
  bool can_go_on = false; // is in the list of those
  one_sided* next = nullptr;

  using kind = one_sided_request::kind;

  // Where the rows of a message are packed; null for want of memory.
  std::byte* room_of(const row& message) noexcept {
    const std::uint64_t each = rows_together * (asked.bytes / asked.rows);
    if (packed == nullptr) {
      const std::uint64_t messages = std::min((asked.rows - 1) / rows_together + 1, rows_at_once);
      packed.reset(new (std::nothrow) std::byte[messages * each]);
      if (packed == nullptr) return nullptr;
    }
    return packed.get() + static_cast<std::uint64_t>(&message - in_flight.get()) * each;
  }
  // All that may throw.
  void prepare(const one_sided_request& r, std::uint64_t of) {
    if (r.what == kind::set || r.what == kind::copy) {
      const std::uint64_t room = std::min(r.bytes, bounce_bytes);
      bounce = std::make_unique<std::byte[]>(room);
      if (r.what == kind::set) std::memset(bounce.get(), r.value, room);
    }
    if (r.rows > 1) {
      in_flight = std::make_unique<row[]>(rows_at_once);
      for (std::uint64_t k = 0; k != rows_at_once; ++k)
        in_flight[k].of = this;
      rows_together = std::clamp<std::uint64_t>(transport::most_packed_bytes / (r.bytes / r.rows), 1, r.rows);
    }
    next_row = 0;
    asked = r;
    handle = of;
    at = reads() ? step::get : r.bytes != 0 ? step::put : step::over;
    moved = 0;
    status = 0;
  }

  bool reads() const { return asked.what == kind::get || asked.what == kind::copy; }
  std::uint32_t peer() const { return at == step::get ? asked.from_rank : asked.to_rank; }
  std::uint64_t piece() const {
    return bounce ? std::min(asked.bytes - moved, bounce_bytes) : asked.bytes - moved;
  }
  step behind_puts() const { return asked.signal.offset != 0 ? step::order : step::flush; }
  void go_on() {
    if (at == step::get && asked.what == kind::copy) {
      at = step::put;
    } else if (at == step::put) {
      moved += piece();
      at = moved == asked.bytes ? behind_puts() : reads() ? step::get : step::put;
    } else if (at == step::order) {
      at = step::flush;
    } else {
      at = step::over;
    }
  }
};

// Carries them beside the operations of an executor, under progress ownership. A completion only notes that a
// transfer can go on; carry() does it, from a sweep, so nothing is asked of the transport from inside of it.
// Of one peer's only so many are with the transport at a time, the others wait in order: any rank that does
// not answer holds up no other rank's.
template <transport::transport T> class one_sided_transfers {
public:
  static constexpr std::uint32_t most_of_a_peer = 64;

  one_sided_transfers(T& net, statistics& counts) : net_(net), counts_(counts), lanes_(net.size()) {}
  one_sided_transfers(const one_sided_transfers&) = delete;
  one_sided_transfers& operator=(const one_sided_transfers&) = delete;

  // Called once for each, at its end; the transfer is the caller's again then.
  using ended_handler = std::function<void(one_sided&)>;
  void when_ended(ended_handler ended) { ended_ = std::move(ended); }
  // Called behind the end of a request for which a call waits: its thread may sleep.
  void when_call_over(std::function<void()> over) { call_over_ = std::move(over); }

  // Raises the signal behind a put that is in place; false for want of memory.
  using raising = std::function<bool(const one_sided_request&)>;
  void raise_by(raising raise) { raise_ = std::move(raise); }

  void begin(one_sided& t) {
    t.owner = this;
    t.done = &delivered;
    ++outstanding_;
    lane& l = lane_of(t);
    if (l.under_way == most_of_a_peer) return l.waiting.push(t);
    ++l.under_way;
    advance(t);
  }

  // One request of the transport, for which a call waits: it is the caller's, and over when its status is 0
  // or an error.
  struct waited : transport::completion {
    std::atomic<int> status{1};
    one_sided_transfers* owner = nullptr;
  };
  template <class Start> void begin(waited& w, Start&& start) {
    w.owner = this;
    w.done = [](transport::completion* c, int status) {
      one_sided_transfers& of = *static_cast<waited*>(c)->owner;
      --of.of_calls_;
      static_cast<waited*>(c)->status.store(status, std::memory_order_release); // the last touch
      of.call_over_();
    };
    const transport::started came = start(w);
    if (came.under_way())
      ++of_calls_;
    else
      w.status.store(came.status(), std::memory_order_relaxed);
  }

  // True if one could go on.
  bool carry() {
    if (ready_.empty()) [[likely]]
      return false;
    for (weft::engine::fifo<one_sided> now = std::exchange(ready_, {}); !now.empty();) {
      one_sided& t = now.pop();
      t.can_go_on = false;
      advance(t);
    }
    return true;
  }

  std::size_t outstanding() const { return outstanding_; }
  // Nothing of it goes on without polls.
  bool needs_polls() const { return outstanding_ + of_calls_ != 0; }
  // Something waits for nothing but carry().
  bool tries_again() const { return !ready_.empty(); }

private:
  using step = one_sided::step;
  using kind = one_sided_request::kind;

  struct lane {
    std::uint32_t under_way = 0;
    weft::engine::fifo<one_sided> waiting;
  };
  lane& lane_of(const one_sided& t) { return lanes_[t.reads() ? t.asked.from_rank : t.asked.to_rank]; }

  // As far as it goes now.
  void advance(one_sided& t) {
    while (t.status == 0 && t.at != step::over) {
      if (t.at == step::flush && t.asked.signal.offset != 0) raise(t);
      if (t.in_flight && (t.at == step::get || t.at == step::put)) {
        if (!ask_rows(t)) return;
        continue;
      }
      const transport::started came = ask(t);
      if (came.under_way()) return;
      if (came.status() == transport::no_memory) [[unlikely]] {
        shortage_.met("a copy");
        return goes_on(t);
      }
      came.failed() ? void(t.status = came.status()) : t.go_on();
    }
    if (t.rows_under_way == 0) end(t); // what has failed waits for its rows
  }

  void goes_on(one_sided& t) {
    if (!std::exchange(t.can_go_on, true)) ready_.push(t);
  }

  // As many rows as may be under way at a time. False: a row that completes, or memory, carries it on; else
  // all of them are through, or it has failed.
  bool ask_rows(one_sided& t) {
    const one_sided_request& r = t.asked;
    const std::uint64_t bytes = r.bytes / r.rows;
    const bool packs = t.rows_together > 1 && packs_for(t.peer());
    while (t.status == 0 && t.next_row != r.rows) {
      one_sided::row* const at = free_row(t);
      if (at == nullptr) return false;
      const std::uint64_t rows = packs ? std::min(t.rows_together, r.rows - t.next_row) : 1;
      at->done = &row_delivered;
      const transport::started came = ask_row(t, *at, rows);
      if (!came.under_way() && came.status() == transport::no_memory) [[unlikely]] {
        shortage_.met("a copy");
        goes_on(t);
        return false;
      }
      (t.at == step::get ? counts_.bytes_got : counts_.bytes_put).add(rows * bytes);
      t.next_row += rows;
      if (came.under_way()) {
        at->under_way = true;
        ++t.rows_under_way;
      } else if (came.failed()) {
        t.status = came.status();
      }
    }
    if (t.rows_under_way != 0) return false;
    t.at = t.at == step::get ? step::over : t.behind_puts();
    return true;
  }
  // Whether several rows to this rank go in one message.
  bool packs_for(std::uint32_t rank) {
    if constexpr (requires { net_.packs_rows(rank); }) return net_.packs_rows(rank);
    return false;
  }
  transport::started ask_row(one_sided& t, one_sided::row& at, std::uint64_t rows) {
    const one_sided_request& r = t.asked;
    const std::uint64_t here = t.next_row * r.apart_here, there = t.next_row * r.apart_there;
    const std::uint64_t bytes = r.bytes / r.rows;
    const bool gets = t.at == step::get;
    std::byte* const to = static_cast<std::byte*>(r.into) + (gets ? here : 0);
    const std::byte* from = static_cast<const std::byte*>(r.out_of) + (gets ? 0 : here);
    if constexpr (requires { net_.packs_rows(r.to_rank); })
      if (rows > 1) {
        if (gets)
          return net_.get_rows(r.from_rank, to, r.apart_here, r.from + there, {bytes, r.apart_there, rows},
                               at);
        std::byte* const packed = t.room_of(at);
        if (packed == nullptr) [[unlikely]]
          return transport::started::failure(transport::no_memory);
        for (std::uint64_t k = 0; k != rows; ++k, from += r.apart_here)
          std::memcpy(packed + k * bytes, from, bytes);
        return net_.put_rows(r.to_rank, r.to + there, packed, {bytes, r.apart_there, rows}, at);
      }
    return gets ? net_.get(r.from_rank, to, r.from + there, bytes, at)
                : net_.put(r.to_rank, r.to + there, from, bytes, at);
  }
  static one_sided::row* free_row(one_sided& t) {
    if (t.rows_under_way == one_sided::rows_at_once) return nullptr;
    one_sided::row* at = t.in_flight.get();
    while (at->under_way)
      ++at;
    return at;
  }
  static void row_delivered(transport::completion* c, int status) {
    auto& row = static_cast<one_sided::row&>(*c);
    one_sided& t = *row.of;
    auto& self = *static_cast<one_sided_transfers*>(t.owner);
    self.shortage_.over();
    row.under_way = false;
    --t.rows_under_way;
    if (status < 0) t.status = status;
    self.goes_on(t);
  }

  transport::started ask(one_sided& t) {
    const one_sided_request& r = t.asked;
    const std::uint64_t bytes = t.piece();
    switch (t.at) {
    case step::get:
      counts_.bytes_got.add(bytes);
      return net_.get(r.from_rank, r.what == kind::get ? r.into : t.bounce.get(), r.from + t.moved, bytes, t);
    case step::put:
      counts_.bytes_put.add(bytes);
      return net_.put(r.to_rank, r.to + t.moved, r.what == kind::put ? r.out_of : t.bounce.get(), bytes, t);
    case step::order:
      if constexpr (requires { net_.order(r.to_rank, t); }) return net_.order(r.to_rank, t);
      [[fallthrough]];
    default:
      return net_.flush(r.to_rank, t);
    }
  }

  // Once: its offset says whether it is still to be raised.
  void raise(one_sided& t) {
    if (!raise_(t.asked)) [[unlikely]]
      weft::engine::end_out_of_memory("a signal to another rank");
    t.asked.signal.offset = 0;
  }

  static void delivered(transport::completion* c, int status) {
    auto& t = static_cast<one_sided&>(*c);
    auto& self = *static_cast<one_sided_transfers*>(t.owner);
    self.shortage_.over();
    status < 0 ? void(t.status = status) : t.go_on();
    self.goes_on(t);
  }

  // The next one of its peer begins at the next carry(): however many fail at once, nothing nests.
  void end(one_sided& t) {
    lane& l = lane_of(t);
    if (l.waiting.empty())
      --l.under_way;
    else
      goes_on(l.waiting.pop());
    if (t.asked.signal.offset != 0 && t.status == 0) raise(t); // it came alone
    t.bounce.reset();
    t.in_flight.reset();
    t.packed.reset();
    --outstanding_;
    ended_(t); // the last touch
  }

  T& net_;
  statistics& counts_;
  ended_handler ended_;
  std::function<void()> call_over_;
  raising raise_;
  std::vector<lane> lanes_;             // by peer
  weft::engine::fifo<one_sided> ready_; // can go on
  std::size_t outstanding_ = 0;
  std::size_t of_calls_ = 0; // requests for which calls wait
  weft::engine::shortage shortage_;
};

} // namespace weft::progress
