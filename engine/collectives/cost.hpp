// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::collectives {

// What transfers cost, in the terms of LogGP. Nanoseconds, but picoseconds for a byte: integers, so that all
// members compute the same. The values are those measured over TCP on one host; all use those of rank 0.
struct cost_table {
  std::uint64_t latency = 4000;   // of a message from one host to another
  std::uint64_t overhead = 600;   // of a message, for the processor at either end
  std::uint64_t gap = 500;        // between two transfers of one host
  std::uint64_t byte = 550;       // ps for each byte of a host's transfers
  std::uint64_t copy = 50;        // of a copy within a host
  std::uint64_t copied_byte = 50; // ps for each byte of it

  static constexpr std::size_t size = 6;
  std::array<std::uint64_t, size> values() const { return {latency, overhead, gap, byte, copy, copied_byte}; }
  static cost_table of(const std::array<std::uint64_t, size>& v) {
    return {v[0], v[1], v[2], v[3], v[4], v[5]};
  }
  static constexpr std::array<std::string_view, size> names{"latency", "overhead", "gap",
                                                            "byte",    "copy",     "copied_byte"};
  static constexpr std::array<std::string_view, size> units{"ns", "ns", "ns", "ps", "ns", "ps"};
};

// By operation: 1 + the index of the algorithm in the list, 0 = the cheapest.
inline constexpr std::size_t most_operations = 32;
using forced_choice = std::array<std::uint8_t, most_operations>;

// The building blocks of an algorithm's time. Everything is an estimate of one operation alone, without what
// its modes add, which is the same for all algorithms.
class cost_model {
public:
  explicit cost_model(const cost_table& t) : t_(t) {}

  // The wire of a host: so many transfers of so many bytes each.
  std::uint64_t wire(std::uint64_t transfers, std::uint64_t bytes) const {
    return transfers * (t_.gap > t_.overhead ? t_.gap : t_.overhead) + of_bytes(transfers * bytes);
  }
  // The same of blocks that other hosts fetch here, while no processor of this one has a part in it.
  std::uint64_t fetched(std::uint64_t transfers, std::uint64_t bytes) const {
    return transfers * t_.gap + of_bytes(transfers * bytes);
  }
  std::uint64_t of_bytes(std::uint64_t bytes) const { return bytes * t_.byte / 1000; }
  // From the send of a message until it is handled.
  std::uint64_t message() const { return t_.latency + 2 * t_.overhead; }
  // So many messages with data by the ranks of a host, which take as many.
  std::uint64_t messages(std::uint64_t count, std::uint64_t bytes) const {
    return t_.latency + handled(count, bytes);
  }
  // The same of more of them, which are under way meanwhile.
  std::uint64_t handled(std::uint64_t count, std::uint64_t bytes) const {
    return wire(count, bytes) + wire(count, 0);
  }
  // Until a get has come back; until a put is known to be in place, and its target knows it.
  std::uint64_t get() const { return 2 * t_.latency + t_.overhead; }
  std::uint64_t put_and_count() const { return 3 * t_.latency + 4 * t_.overhead; }
  // How many puts of a stream to keep under way: enough that the wire is never idle, and no more, because a
  // count waits on the wire behind the puts that were begun before it.
  std::uint64_t stream(std::uint64_t bytes) const {
    return 2 + put_and_count() / (wire(1, bytes) + wire(1, 0));
  }
  // So many gets by the ranks of a host, while others fetch as much from it; each is told if `counted`.
  std::uint64_t gets(std::uint64_t count, std::uint64_t bytes, bool counted) const {
    return get() + wire(count, 0) + wire(count, bytes) + (counted ? wire(count, 0) + message() : 0);
  }
  std::uint64_t copies(std::uint64_t count, std::uint64_t bytes) const {
    return count * (t_.copy + bytes * t_.copied_byte / 1000);
  }
  // So many blocks, between where they lie and a message that holds all of them.
  std::uint64_t packs(std::uint64_t count, std::uint64_t bytes) const {
    constexpr std::uint64_t each = 10; // ns, measured
    return t_.copy + count * each + count * bytes * t_.copied_byte / 1000;
  }
  const cost_table& table() const { return t_; }

private:
  const cost_table& t_;
};

} // namespace weft::collectives
