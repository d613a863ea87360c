// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Ranks of the real transport in one process, which reach each other through UCX only, driven by one thread.
#include "engine/transport/ucx/transport.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace weft::tests {

struct awaited : transport::completion {
  awaited() {
    done = [](completion* c, int came) {
      auto* self = static_cast<awaited*>(c);
      self->status = came;
      ++self->calls;
    };
  }
  bool finished() const { return calls != 0; }
  int status = 1;
  int calls = 0;
};

class ranks_of_one_process {
public:
  static constexpr std::uint64_t job_key = 0x5eed;
  static constexpr std::size_t segment_bytes = 16 << 20;
  using rank = transport::ucx::ucx_transport;

  // One rank for each list of transports of UCX.
  explicit ranks_of_one_process(const std::vector<std::string>& lists) {
    setenv("UCX_NET_DEVICES", "lo", 1);
    setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    for (std::uint32_t r = 0; r < lists.size(); ++r) {
      setenv("UCX_TLS", lists[r].c_str(), 1);
      transport::ucx::options o;
      o.rank = r;
      o.size = static_cast<std::uint32_t>(lists.size());
      o.job_key = job_key;
      o.segment_bytes = segment_bytes;
      o.near.resize(o.size);
      o.card_of = [this](std::uint32_t other) { return cards_[other]; };
      o.on_loss = [this](std::uint32_t) { ++losses; };
      ranks_.push_back(std::make_unique<rank>(std::move(o)));
      cards_.push_back(ranks_.back()->card());
    }
    unsetenv("UCX_TLS");
  }
  ~ranks_of_one_process() {
    for (auto& r : ranks_)
      (void)r->close([this] { // each with the help of all
        poll();
        return true;
      });
  }

  rank& operator[](std::size_t r) { return *ranks_[r]; }
  const std::vector<std::byte>& card(std::size_t r) const { return cards_[r]; }

  void poll() {
    for (auto& r : ranks_) {
      r->poll();
      r->carry();
    }
  }
  // Bounded, for what may never be.
  template <class Fact> bool poll_until(Fact&& fact, int rounds = 20'000'000) {
    while (!fact() && --rounds > 0)
      poll();
    return rounds > 0;
  }
  int status_of(transport::started came, const awaited& w) {
    if (!came.under_way()) return came.status();
    EXPECT_TRUE(poll_until([&] { return w.finished(); }));
    return w.status;
  }
  int put(std::size_t from, std::uint32_t to, std::uint64_t at, const void* what, std::uint64_t bytes) {
    awaited w;
    return status_of(ranks_[from]->put(to, at, what, bytes, w), w);
  }
  int flush(std::size_t from, std::uint32_t to) {
    awaited w;
    return status_of(ranks_[from]->flush(to, w), w);
  }
  int get(std::size_t by, std::uint32_t from, std::uint64_t at, void* to, std::uint64_t bytes) {
    awaited w;
    return status_of(ranks_[by]->get(from, to, at, bytes, w), w);
  }

  int losses = 0;

private:
  std::vector<std::vector<std::byte>> cards_;
  std::vector<std::unique_ptr<rank>> ranks_;
};

} // namespace weft::tests
