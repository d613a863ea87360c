#pragma once
#include "engine/fifo.hpp"
#include "progress/execution/flights.hpp"

namespace weft::progress {

// Calls into user code that plans have come to. Whoever drives takes one, lets go of the right to drive, runs
// it, and finishes it when he has the right again. Under progress ownership, but for run().
template <class T> class user_calls {
public:
  explicit user_calls(flight_pool<T>& flights) : flights_(flights) {}

  outcome begin(operation& op, std::uint32_t me, flight_tag tag) {
    return flights_.request(op, me, tag, [this](flight& f) {
      waiting_.push(f);
      return transport::started::on_its_way();
    });
  }

  bool waiting() const noexcept { return !waiting_.empty(); }
  flight& take() noexcept { return waiting_.pop(); }

  // The status that it ends with.
  static int run(const graph::user_code& code) noexcept {
    try {
      code.call(code.argument);
      return 0;
    } catch (...) {
      return status_user_code;
    }
  }

private:
  flight_pool<T>& flights_;
  engine::fifo<flight> waiting_;
};

} // namespace weft::progress
