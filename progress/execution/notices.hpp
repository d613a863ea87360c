// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"

#include <array>
#include <cstring>
#include <span>

namespace weft::progress {

// Messages that belong to no operation of the sender: answers, requests for credit, news of a failure. No
// thread here waits for their end, and another rank may wait for them for ever. So one that could not be sent
// is kept, and sent again at later sweeps. After `patience` its receiver counts as lost. They may be sent
// twice, and arrive in another order: none of them minds. Under progress ownership.
template <transport::transport T> class notices {
public:
  // `later` is raised as long as there is something to be sent again.
  notices(T& net, bool& later) : net_(net), later_(later) {}
  notices(const notices&) = delete;
  notices& operator=(const notices&) = delete;

  // Keeps a copy of the payload. False if there is no memory for that.
  bool send(std::uint32_t rank, const transport::message& m, std::span<const std::byte> payload = {}) {
    notice* const n = all_.take();
    if (n == nullptr) [[unlikely]]
      return false;
    n->owner = this;
    n->done = [](transport::completion* c, int status) {
      auto& sent = *static_cast<notice*>(c);
      sent.owner->settle(sent, status);
    };
    n->rank = rank;
    n->what = m;
    n->bytes = payload.size();
    if (!payload.empty()) std::memcpy(n->payload.data(), payload.data(), payload.size());
    send(*n);
    return true;
  }

  [[gnu::cold, gnu::noinline]] void send_again() {
    notice* n = unsent_;
    unsent_ = nullptr;
    while (n != nullptr) {
      notice* const next = n->next;
      send(*n);
      n = next;
    }
    if (unsent_ == nullptr) failing_since_ = std::chrono::nanoseconds(0);
  }

private:
  static constexpr std::chrono::seconds patience{5};

  struct notice : transport::completion {
    notices* owner = nullptr;
    notice* next = nullptr; // in the list of the free or of the unsent
    std::uint32_t rank = 0;
    transport::message what;
    std::size_t bytes = 0;
    std::array<std::byte, sizeof(weft::engine::mailbox::dispute_lines)> payload; // the longest
  };

  void send(notice& n) {
    const transport::started came = net_.send(n.rank, n.what, n.payload.data(), n.bytes, n);
    if (!came.under_way()) settle(n, came.status());
  }

  void settle(notice& n, int status) noexcept {
    if (status < 0 && !gone(n.rank)) [[unlikely]]
      return keep(n, status);
    all_.give_back(n);
  }

  [[gnu::cold, gnu::noinline]] void keep(notice& n, int status) noexcept {
    n.next = unsent_;
    unsent_ = &n;
    later_ = true;
    if (failing_since_.count() == 0) failing_since_ = net_.now();
    if (net_.now() - failing_since_ < patience) return;
    if (status == transport::no_memory) weft::engine::end_out_of_memory("an answer to another rank");
    if constexpr (requires { net_.report_loss(n.rank); }) net_.report_loss(n.rank);
  }

  bool gone(std::uint32_t rank) const noexcept {
    if constexpr (requires { net_.lost(rank); })
      return net_.lost(rank);
    else
      return false;
  }

  T& net_;
  bool& later_;
  weft::engine::item_pool<notice> all_;
  notice* unsent_ = nullptr;
  std::chrono::nanoseconds failing_since_{0}; // 0: nothing is to be sent again
};

} // namespace weft::progress
