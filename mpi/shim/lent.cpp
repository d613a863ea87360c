// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie at the member that gives them, until those that take them have copied them: in its ring, or
// where its program has them.
#include "mpi/shim/lane.hpp"

#include <algorithm>

namespace weft::mpi {

namespace {

// As long as a giver would copy them, and a little more: in nanoseconds.
std::uint64_t time_to_copy(std::size_t bytes) {
  constexpr std::uint64_t least = 2000, bytes_in_a_nanosecond = 6;
  return least + bytes / bytes_in_a_nanosecond;
}

} // namespace

// This member's own one, and a line behind it those that it is sent.
token* lane::tokens(const piece& p) const {
  return reinterpret_cast<token*>(memory_of(rank_, p.got));
}

// Do both ways lead there, so that what they cost is measured?
bool lane::is_compared(const piece& p) const {
  return p.bytes >= costs_of_ways::least && !processes_.empty();
}

// At the member that gives, one for each that takes.
std::atomic<claim>* lane::claims(int giver, const piece& p) const {
  const std::uint64_t place = p.got + line + whole_lines(threads_.size() * sizeof(token));
  return reinterpret_cast<std::atomic<claim>*>(memory_of(giver, place));
}

bool lane::takes_from_this(const call& c, int member) const {
  if (member == rank_) return false;
  if (from_root(c.what)) return rank_ == c.root;
  return c.what != collective::gather || member == c.root;
}

void lane::lend(const call& c, piece& p) {
  copy_own(c, p);
  std::uint64_t takers = 0;
  for (int member = 0; member != size(); ++member)
    takers += takes_from_this(c, member);
  // A root's blocks go to as many members, each of which takes one.
  const std::uint64_t given = differ(c.what) ? takers : 1;
  const std::uint64_t taken = from_root(c.what) ? 1 : threads_.size() - 1;
  // In place what is given is overwritten.
  const bool stays = c.what != collective::alltoall || c.in != c.out;
  p.by_kernel = takers != 0 && stays && !refused_ && is_compared(p) &&
                costs_.by_kernel_is_cheaper(p.bytes, given, taken);
  by_kernel_ += p.by_kernel;
  *tokens(p) = p.by_kernel ? reinterpret_cast<token>(c.in + p.from) : 0;
  p.lent_at = takers != 0 && is_compared(p) ? nanoseconds_now() : 0;
  if (p.by_kernel) {
    for (std::size_t member = 0; member != threads_.size(); ++member)
      claims(rank_, p)[member].store(claim::free, std::memory_order_relaxed);
  } else if (takers != 0) {
    stage(c, p);
    if (is_compared(p))
      costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, p.bytes,
                  (nanoseconds_now() - p.lent_at) / given);
  }
  signal(c, p);
}

// A block that member `giver` gives. False if it is not there yet.
bool lane::take(const call& c, const piece& p, int giver, std::byte* to) {
  const token* const told = tokens(p) + line / sizeof(token);
  const auto* const there = reinterpret_cast<const std::byte*>(told[from_root(c.what) ? 0 : giver]);
  const std::byte* const staged = lent_by(giver, c, p);
  const std::uint64_t begin = is_compared(p) ? nanoseconds_now() : 0;
  costs_of_ways::way by = costs_of_ways::by_ring;
  if (there == nullptr) {
    copy_block(to, staged, p.bytes);
  } else {
    std::atomic<claim>& mine = claims(giver, p)[rank_];
    claim is = claim::free;
    if (mine.compare_exchange_strong(is, claim::taking, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      const std::size_t block = differ(c.what) ? static_cast<std::size_t>(rank_) * c.bytes : 0;
      const pid_t process = processes_[static_cast<std::size_t>(giver)];
      const bool read = read_of_process(process, there + block, to, p.bytes);
      mine.store(read ? claim::taken : claim::refused, std::memory_order_release);
      if (!read) return false;
      bytes_copied.fetch_add(p.bytes, std::memory_order_relaxed);
      by = costs_of_ways::by_kernel;
    } else if (is == claim::staged) {
      copy_block(to, staged, p.bytes);
    } else {
      return false; // refused, and not copied yet
    }
  }
  if (is_compared(p)) costs_.note(by, costs_of_ways::taking, p.bytes, nanoseconds_now() - begin);
  return true;
}

// Does no member need this one's memory any more? What is not read in time this member copies into its ring.
bool lane::has_given(const call& c, piece& p) {
  if (!p.by_kernel) return true;
  std::atomic<claim>* const words = claims(rank_, p);
  bool unclaimed = false, reading = false;
  for (int member = 0; member != size(); ++member) {
    if (!takes_from_this(c, member)) continue;
    const claim is = words[member].load(std::memory_order_acquire);
    refused_ |= is == claim::refused;
    unclaimed |= is == claim::free || is == claim::refused;
    reading |= is == claim::taking;
  }
  const std::uint64_t now = unclaimed || reading || p.looked_at != 0 ? nanoseconds_now() : 0;
  if (p.looked_at == 0) p.looked_at = now;
  if (unclaimed) {
    if (!refused_ && now - p.lent_at < time_to_copy(p.bytes * c.in_blocks)) return false;
    if (!p.staged) stage(c, p);
    p.staged = true;
    for (int member = 0; member != size(); ++member) {
      claim is = claim::free;
      while (takes_from_this(c, member) && (is == claim::free || is == claim::refused) &&
             !words[member].compare_exchange_weak(is, claim::staged, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
        ;
      reading |= is == claim::taking;
    }
  }
  if (reading) return false;
  costs_.note(costs_of_ways::by_kernel, costs_of_ways::giving, p.bytes,
              p.looked_at == 0 ? 0 : nanoseconds_now() - p.looked_at);
  return true;
}

} // namespace weft::mpi
