// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulated/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <utility>

namespace weft::transport::sim {
namespace {

constexpr std::uint32_t no_rank = ~std::uint32_t{0};
constexpr std::uint64_t most_pieces = 6;
// A copy that no store follows is seen some time all the same, but so late that no rank can count on it.
constexpr std::int64_t copies_later_than_stores = 100;

bool overlap(const std::byte* a, std::uint64_t a_bytes, const std::byte* b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

} // namespace

memory::memory(const simulation_options& options, seeded_random& random, scheduler& scheduler)
    : options_(options), random_(random), scheduler_(scheduler), node_(options.host_of_rank),
      buffers_(options.ranks) {
  if (options_.segment_bytes % 64 != 0) throw std::invalid_argument("segment_bytes: use a multiple of 64");
  if (node_.empty()) node_.assign(options_.ranks, 0);
  arena_bytes_ = std::max<std::size_t>(64, options_.segment_bytes * options_.ranks);
  void* const got =
      mmap(nullptr, arena_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) throw std::bad_alloc();
  arena_ = static_cast<std::byte*>(got);
}

memory::~memory() {
  munmap(arena_, arena_bytes_);
}

bool memory::in_arena(const void* at) const {
  return at >= arena_ && at < arena_ + options_.segment_bytes * options_.ranks;
}

std::uint32_t memory::owner(const void* at) const {
  return static_cast<std::uint32_t>(static_cast<std::size_t>(static_cast<const std::byte*>(at) - arena_) /
                                    options_.segment_bytes);
}

// Loads and stores reach the own host only, and no operation reaches over the end of a segment.
void memory::check(std::uint32_t rank, const void* at, std::uint64_t bytes) const {
  if (bytes == 0 || !in_arena(at)) return;
  const std::uint32_t whose = owner(at);
  const void* const last = static_cast<const std::byte*>(at) + bytes - 1;
  if (!in_arena(last) || owner(last) != whose)
    throw std::logic_error("rank " + std::to_string(rank) + " runs over the end of rank " +
                           std::to_string(whose) + "'s segment");
  if (!near(rank, whose))
    throw std::logic_error("rank " + std::to_string(rank) + " reaches into rank " + std::to_string(whose) +
                           " on another node");
}

std::byte* memory::at(std::uint32_t rank, std::uint64_t offset, std::uint64_t bytes) const {
  if (rank >= options_.ranks || offset > options_.segment_bytes || bytes > options_.segment_bytes - offset)
    throw std::logic_error("no " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                           " of rank " + std::to_string(rank) + "'s segment");
  return segment(rank) + offset;
}

bool memory::coin(double probability) {
  return !scheduler_.abandoning() && random_.coin(probability);
}

std::uint64_t memory::load(std::uint32_t rank, const word& w) {
  check(rank, &w, sizeof(w));
  scheduler_.step(rank, action::load, options_.costs.word);
  std::uint64_t value = w.load(std::memory_order_relaxed);
  for (const pending& entry : buffers_[rank].entries)
    if (entry.target == &w) value = entry.value;
  scheduler_.trace(value);
  return value;
}

void memory::store(std::uint32_t rank, word& w, std::uint64_t value) {
  check(rank, &w, sizeof(w));
  scheduler_.step(rank, action::store, options_.costs.word);
  if (!in_arena(&w)) { // private: no other rank can see when it changes
    w.store(value, std::memory_order_relaxed);
    scheduler_.wake(rank);
    return;
  }
  if (coin(options_.chaos.late)) {
    put_off(rank, {.what = pending::kind::store, .target = &w, .value = value}, options_.chaos.late_ns);
    return;
  }
  if (!options_.faults.reordered) publish(rank);
  w.store(value, std::memory_order_relaxed);
  scheduler_.memory_changed(node_[rank]);
}

bool memory::cas(std::uint32_t rank, word& w, std::uint64_t& expected, std::uint64_t desired) {
  check(rank, &w, sizeof(w));
  scheduler_.step(rank, action::cas, options_.costs.atomic);
  publish(rank);
  if (coin(options_.chaos.spurious)) {
    expected = w.load(std::memory_order_relaxed);
    return false;
  }
  const bool swapped = w.compare_exchange_strong(expected, desired, std::memory_order_relaxed);
  if (swapped) scheduler_.memory_changed(node_[rank]);
  scheduler_.trace(expected);
  return swapped;
}

std::uint64_t memory::add(std::uint32_t rank, word& w, std::uint64_t value) {
  check(rank, &w, sizeof(w));
  scheduler_.step(rank, action::add, options_.costs.atomic);
  publish(rank);
  const std::uint64_t old = w.fetch_add(value, std::memory_order_relaxed);
  scheduler_.memory_changed(node_[rank]);
  scheduler_.trace(old);
  return old;
}

void memory::fence(std::uint32_t rank) {
  scheduler_.step(rank, action::fence, options_.costs.atomic);
  publish(rank);
  scheduler_.memory_changed(node_[rank]); // also what the rank has stored without asking the transport
}

// The ends of the pieces in which a copy lands.
std::vector<std::uint64_t> memory::cut(std::uint64_t bytes) {
  std::vector<std::uint64_t> ends;
  if (bytes > 1 && coin(options_.chaos.tear)) {
    const std::uint64_t pieces = 2 + random_.below(std::min(bytes, most_pieces) - 1);
    for (std::uint64_t i = 1; i < pieces; ++i)
      ends.push_back(1 + random_.below(bytes - 1));
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }
  ends.push_back(bytes);
  return ends;
}

void memory::copy(std::uint32_t rank, void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  check(rank, to, bytes);
  check(rank, from, bytes);
  const simulated_costs& costs = options_.costs;
  scheduler_.step(rank, action::copy, costs.near_copy + costs.near_byte * static_cast<double>(bytes));
  const std::vector<std::uint64_t> ends = cut(bytes);
  std::vector<std::size_t> order(ends.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random_.below(i)]);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != 0) scheduler_.step(rank, action::copy, 0);
    const std::uint64_t begin = order[i] == 0 ? 0 : ends[order[i] - 1];
    copy_piece(rank, static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
               ends[order[i]] - begin);
  }
}

void memory::copy_piece(std::uint32_t rank, std::byte* to, const std::byte* from, std::uint64_t bytes) {
  settle(rank, from, bytes);
  settle(rank, to, bytes);
  scratch_.resize(bytes);
  read_as(rank, scratch_.data(), from, bytes);
  const std::int64_t at_most = options_.chaos.late_ns * copies_later_than_stores;
  if (in_arena(to) && coin(options_.chaos.late)) {
    if (owner(to) != rank) {
      put_off(rank, {.what = pending::kind::copy, .place = to, .bytes = scratch_}, at_most);
      return;
    }
    put_off(rank, {.what = pending::kind::shadow, .place = to, .bytes = {to, to + bytes}}, at_most);
    ++buffers_[rank].shadows;
    ++shadows_;
  }
  std::memcpy(to, scratch_.data(), bytes);
}

void memory::put_off(std::uint32_t rank, pending entry, std::int64_t at_most) {
  entry.id = ++ids_;
  const std::uint64_t id = entry.id;
  buffers_[rank].entries.push_back(std::move(entry));
  scheduler_.at(scheduler_.now() + 1 + random_.up_to(at_most), [this, rank, id] { expire(rank, id); });
}

void memory::apply(std::uint32_t rank, const pending& entry) {
  switch (entry.what) {
  case pending::kind::store:
    entry.target->store(entry.value, std::memory_order_relaxed);
    scheduler_.memory_changed(node_[rank]);
    break;
  case pending::kind::copy:
    std::memcpy(entry.place, entry.bytes.data(), entry.bytes.size());
    break;
  case pending::kind::shadow:
    --buffers_[rank].shadows;
    --shadows_;
    break;
  }
}

// The time of one entry has come. A store takes everything before it along; a copy goes alone.
void memory::expire(std::uint32_t rank, std::uint64_t id) {
  std::vector<pending>& entries = buffers_[rank].entries;
  const auto found =
      std::find_if(entries.begin(), entries.end(), [id](const pending& e) { return e.id == id; });
  if (found == entries.end()) return;
  const bool is_store = found->what == pending::kind::store;
  if (is_store && options_.faults.reordered) {
    apply(rank, *found);
    entries.erase(found);
    return;
  }
  const auto first = is_store ? entries.begin() : found;
  for (auto e = first; e != found + 1; ++e)
    apply(rank, *e);
  entries.erase(first, found + 1);
}

// A rank's own copies to and from a place keep their order.
void memory::settle(std::uint32_t rank, const void* at, std::uint64_t bytes) {
  std::vector<pending>& entries = buffers_[rank].entries;
  for (std::size_t i = 0; i < entries.size();) {
    const pending& e = entries[i];
    if (e.what != pending::kind::copy ||
        !overlap(e.place, e.bytes.size(), static_cast<const std::byte*>(at), bytes)) {
      ++i;
      continue;
    }
    apply(rank, e);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void memory::publish(std::uint32_t rank) {
  std::vector<pending>& entries = buffers_[rank].entries;
  for (const pending& entry : entries)
    apply(rank, entry);
  entries.clear();
}

void memory::read_as(std::uint32_t reader, void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
  if (shadows_ == 0) return;
  const auto* const begin = static_cast<const std::byte*>(from);
  for (std::uint32_t writer = 0; writer < buffers_.size(); ++writer) {
    if (writer == reader || buffers_[writer].shadows == 0) continue;
    const std::vector<pending>& entries = buffers_[writer].entries;
    for (auto e = entries.rbegin(); e != entries.rend(); ++e) {
      if (e->what != pending::kind::shadow || !overlap(e->place, e->bytes.size(), begin, bytes)) continue;
      if (random_.coin(0.5)) continue;
      const std::byte* const low = std::max<const std::byte*>(e->place, begin);
      const std::byte* const high = std::min<const std::byte*>(e->place + e->bytes.size(), begin + bytes);
      std::memcpy(static_cast<std::byte*>(to) + (low - begin), e->bytes.data() + (low - e->place),
                  static_cast<std::size_t>(high - low));
    }
  }
}

void memory::read(void* to, const void* from, std::uint64_t bytes) {
  read_as(no_rank, to, from, bytes);
}

void memory::write(std::uint32_t rank, void* to, const void* from, std::uint64_t bytes) {
  std::memcpy(to, from, bytes);
  scheduler_.memory_changed(node_[rank]);
}

} // namespace weft::transport::sim
