// SPDX-License-Identifier: BSD-3-Clause
// Blocks that lie at the member that gives them, until those that take them have copied them: in its ring, or
// where its program has them.
#include "mpi/shim/lane.hpp"

#include <algorithm>

namespace weft::mpi {

namespace {

const std::byte* pointer_of(token t) {
  return reinterpret_cast<const std::byte*>(t);
}

// As long as a giver would copy them, and a little more: in nanoseconds.
std::uint64_t time_to_copy(std::size_t bytes) {
  constexpr std::uint64_t least = 2000, bytes_in_a_nanosecond = 6;
  return least + bytes / bytes_in_a_nanosecond;
}

} // namespace

token* lane::tokens(int member, const piece& p) const {
  return reinterpret_cast<token*>(memory_of(member, p.got));
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
  const auto members = threads_.size();
  std::uint64_t takers = 0;
  for (int member = 0; member != size(); ++member)
    takers += takes_from_this(c, member);
  const bool gives = takers != 0;
  // A root's blocks go to as many members, each of which takes one.
  const std::uint64_t given = differ(c.what) ? takers : 1, taken = from_root(c.what) ? 1 : members - 1;
  // In place what is given is overwritten.
  const bool stays = c.what != collective::alltoall || c.in != c.out;
  p.by_kernel = gives && stays && !refused_ && !processes_.empty() &&
                costs_.by_kernel_is_cheaper(p.bytes, given, taken);
  if (p.by_kernel) p.lent_at = nanoseconds_now();
  *tokens(rank_, p) = p.by_kernel ? reinterpret_cast<token>(c.in + p.from) : 0;
  if (p.by_kernel)
    for (std::size_t member = 0; member != members; ++member)
      claims(rank_, p)[member].store(claim::free, std::memory_order_relaxed);
  else if (gives)
    stage_lent(c, p);
  signal(c, p);
}

// Into the ring, and how long that takes.
void lane::stage_lent(const call& c, const piece& p) {
  const bool counts = p.bytes >= costs_of_ways::least && !p.by_kernel && !processes_.empty();
  const std::uint64_t begin = counts ? nanoseconds_now() : 0;
  stage(c, p);
  const std::uint64_t given = differ(c.what) ? threads_.size() - 1 : 1;
  if (counts)
    costs_.note(costs_of_ways::by_ring, costs_of_ways::giving, p.bytes, (nanoseconds_now() - begin) / given);
}

// A block that member `giver` gives. False if it is not there yet.
bool lane::take(const call& c, const piece& p, int giver, std::byte* to) {
  const token* const told = tokens(rank_, p) + line / sizeof(token);
  const std::byte* const there = pointer_of(told[from_root(c.what) ? 0 : giver]);
  const std::byte* const staged = lent_by(giver, c, p);
  const bool counts = p.bytes >= costs_of_ways::least && !processes_.empty();
  const std::uint64_t begin = counts ? nanoseconds_now() : 0;
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
  if (counts) costs_.note(by, costs_of_ways::taking, p.bytes, nanoseconds_now() - begin);
  return true;
}

// Does no member need this one's memory any more? What is not read in time this member copies into its ring.
bool lane::has_given(const call& c, piece& p) {
  if (!p.by_kernel) return true;
  std::atomic<claim>* const words = claims(rank_, p);
  const auto each_is = [&](auto&& right) {
    for (int member = 0; member != size(); ++member)
      if (takes_from_this(c, member) && !right(words[member].load(std::memory_order_acquire))) return false;
    return true;
  };
  const auto is_over = [](claim is) { return is == claim::taken || is == claim::staged; };
  const auto is_claimed = [](claim is) { return is != claim::free && is != claim::refused; };
  if (!each_is(is_over)) {
    const std::uint64_t now = nanoseconds_now();
    if (p.looked_at == 0) p.looked_at = now;
    if (!each_is([](claim is) { return is != claim::refused; })) refused_ = true;
    if (each_is(is_claimed)) return false; // a member is reading
    if (!refused_ && now - p.lent_at < time_to_copy(p.bytes * c.in_blocks)) return false;
    if (!p.staged) stage(c, p);
    p.staged = true;
    for (int member = 0; member != size(); ++member) {
      claim is = claim::free;
      while (takes_from_this(c, member) && !is_claimed(is) &&
             !words[member].compare_exchange_weak(is, claim::staged, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
        ;
    }
    if (!each_is(is_over)) return false;
  }
  costs_.note(costs_of_ways::by_kernel, costs_of_ways::giving, p.bytes,
              p.looked_at == 0 ? 0 : nanoseconds_now() - p.looked_at);
  return true;
}

} // namespace weft::mpi
