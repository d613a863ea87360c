// SPDX-License-Identifier: BSD-3-Clause
// The meeting point of ranks on several hosts.
#include "perf/bench/meeting.hpp"
#include "perf/bench/statistics.hpp"
#include "perf/bench/tcp.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace perf {
namespace {

template <class T> std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T> std::span<std::byte> room_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// A star around rank 0. All ranks know what comes next on each connection, so nothing has a header: whoever
// arrives sends a word, and rank 0 answers with a word when all have come.
//
// The answers leave one after the other and take a while, which is more than the calls that are measured may
// take. So the answer to align() names a moment that lies behind the arrival of the last one, and every rank
// waits for that. The clocks agree where the hosts are simulated on one machine; where they do not, no rank
// waits for longer than the moment was ahead, and the ranks leave as the answers come.
class socket_meeting final : public meeting {
public:
  socket_meeting(int rank, int size, const std::string& address) : meeting(rank, size) {
    if (rank == 0) {
      accept_all(address);
    } else {
      others_.push_back(connect_to(address));
      others_.front().send(bytes_of(rank));
    }
  }

  void align() override {
    const double ahead_us = 50.0 + 10.0 * size();
    double start = 0;
    if (rank() == 0) {
      collect(&socket_meeting::receive_awake);
      start = now_us() + ahead_us;
      answer(start);
    } else {
      others_.front().send(bytes_of(start));
      receive_awake(others_.front(), room_of(start));
    }
    const double latest = std::min(start, now_us() + ahead_us);
    while (now_us() < latest)
      relax();
  }

  void rest() override {
    double word = 0;
    if (rank() == 0) {
      collect(&socket_meeting::receive_asleep);
      answer(word);
    } else {
      others_.front().send(bytes_of(word));
      others_.front().receive(room_of(word));
    }
  }

  using meeting::maximum;
  void maximum(std::span<double> values) override {
    for (std::size_t first = 0; first < values.size(); first += chunk)
      maximum_of_part(values.subspan(first, std::min(chunk, values.size() - first)));
  }

private:
  static constexpr std::size_t chunk = 512;
  using receiver = void (socket_meeting::*)(connection&, std::span<std::byte>);

  void accept_all(const std::string& address) {
    listener door(address);
    std::vector<bool> known(static_cast<std::size_t>(size()));
    for (int count = 1; count < size(); ++count) {
      others_.push_back(door.accept());
      int who = 0;
      others_.back().receive(room_of(who));
      if (who < 1 || who >= size() || known[static_cast<std::size_t>(who)])
        throw std::runtime_error("rank " + std::to_string(who) + " came to the meeting of other ranks");
      known[static_cast<std::size_t>(who)] = true;
    }
  }

  void receive_awake(connection& from, std::span<std::byte> room) {
    from.transfer({}, room, [this] { relax(); });
  }
  void receive_asleep(connection& from, std::span<std::byte> room) { from.receive(room); }

  // A word of every rank.
  void collect(receiver receive) {
    for (connection& other : others_) {
      double word = 0;
      (this->*receive)(other, room_of(word));
    }
  }
  void answer(double word) {
    for (connection& other : others_)
      other.send(bytes_of(word));
  }

  void maximum_of_part(std::span<double> part) {
    if (rank() != 0) {
      others_.front().send(std::as_bytes(part));
      others_.front().receive(std::as_writable_bytes(part));
      return;
    }
    std::vector<double> theirs(part.size());
    for (connection& other : others_) {
      other.receive(std::as_writable_bytes(std::span(theirs)));
      std::transform(part.begin(), part.end(), theirs.begin(), part.begin(),
                     [](double one, double another) { return std::max(one, another); });
    }
    for (connection& other : others_)
      other.send(std::as_bytes(part));
  }

  std::vector<connection> others_; // rank 0's: in the order in which they came; of the others: rank 0 alone
};

} // namespace

std::unique_ptr<meeting> meet_over_sockets(int rank, int size, const std::string& address) {
  return std::make_unique<socket_meeting>(rank, size, address);
}

} // namespace perf
