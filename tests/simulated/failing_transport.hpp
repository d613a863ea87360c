// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft::tests {

// A transport of which one request fails, the n-th: at once, or when it was under way and would have
// finished. Rings are none: no thread relies on one.
template <class T> class failing_transport : public T {
public:
  using T::T;

  void fail(std::uint64_t n, bool late) {
    left_ = n;
    late_ = late;
  }
  bool has_failed() const { return failed_; }
  // Not one of those that belong to none.
  bool was_of_operation() const { return of_operation_; }

  transport::started get(std::uint32_t peer, void* to, std::uint64_t offset, std::uint64_t bytes,
                         transport::completion& done) {
    return pass(done, [&](transport::completion& d) { return T::get(peer, to, offset, bytes, d); });
  }
  transport::started put(std::uint32_t peer, std::uint64_t offset, const void* from, std::uint64_t bytes,
                         transport::completion& done) {
    return pass(done, [&](transport::completion& d) { return T::put(peer, offset, from, bytes, d); });
  }
  transport::started flush(std::uint32_t peer, transport::completion& done) {
    return pass(done, [&](transport::completion& d) { return T::flush(peer, d); });
  }
  transport::started send(std::uint32_t peer, const transport::message& m, const void* payload,
                          std::uint64_t bytes, transport::completion& done) {
    const auto send = [&](transport::completion& d) { return T::send(peer, m, payload, bytes, d); };
    return m.kind == transport::message_kind::ring
               ? send(done)
               : pass(done, send, m.kind < transport::message_kind::failed);
  }

private:
  template <class Call>
  transport::started pass(transport::completion& done, Call call, bool of_operation = true) {
    if (left_ == 0 || --left_ != 0) return call(done);
    of_operation_ = of_operation;
    failed_ = true;
    if (!late_) return transport::started::failure(transport::unreachable);
    relay_.user = &done;
    relay_.done = [](transport::completion* c, int) {
      transport::completion* const user = static_cast<relay*>(c)->user;
      user->done(user, transport::unreachable);
    };
    const transport::started came = call(relay_);
    return came.under_way() ? came : transport::started::failure(transport::unreachable);
  }

  struct relay : transport::completion {
    transport::completion* user = nullptr;
  } relay_;
  std::uint64_t left_ = 0; // requests until one fails; 0: none will
  bool late_ = false;
  std::atomic<bool> of_operation_{false}, failed_{false};
};

} // namespace weft::tests
