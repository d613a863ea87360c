#include "tests/modes/operands.hpp"

#include <algorithm>

namespace modes {
namespace {

upc_shared_ptr_t behind(upc_shared_ptr_t p, std::size_t bytes) {
  p.addr += bytes;
  return p;
}
bool writes_own(out_mode m) {
  return m == out_mode::my || m == out_mode::local;
}

} // namespace

std::byte* operands::block_of_destination(int k) const {
  return arena_.local(arena_.destination(me())) + static_cast<std::size_t>(k) * trial_.bytes;
}

// In place, some or all blocks of the destination are sources.
bool operands::is_source(int k) const {
  if (!trial_.what.in_place) return false;
  return trial_.what.slices || k == flow_.source_block(me(), me());
}

void operands::prepare() const {
  if (!trial_.what.has_data()) return;
  const bool now = trial_.in == in_mode::no;
  write_destination(content::untouched);
  fill(block_of_destination(flow_.destination_blocks()), arena::margin, trial_, content::trap);
  fill(arena_.local(arena_.trap(me())), trial_.bytes, trial_, content::trap);
  write_source(me(), now ? content::true_data : content::not_yet);
  write_arrays(now ? arrays::valid : arrays::not_yet);
}

void operands::give() const {
  if (!trial_.what.has_data() || trial_.in == in_mode::no) return;
  write_arrays(arrays::valid);
  if (trial_.in == in_mode::my) write_source(me(), content::true_data);
}

void operands::give_for_all() const {
  if (!trial_.what.has_data() || trial_.in != in_mode::all) return;
  for (int rank = 0; rank < THREADS; ++rank)
    write_source(rank, content::true_data);
}

void operands::take_back() const {
  if (!trial_.what.has_data()) return;
  if (writes_own(trial_.out)) write_destination(content::taken_back);
  if (trial_.out == out_mode::no || trial_.out == out_mode::local) return;
  write_arrays(arrays::no_more);
  if (trial_.what.in_place) return;
  write_source(me(), content::no_more);
  if (trial_.out == out_mode::all) write_source(next(), content::no_more);
}

bool operands::untouched() const {
  for (int k = 0; k < flow_.destination_blocks(); ++k) {
    const content before = is_source(k) ? content::not_yet : content::untouched;
    if (!holds(block_of_destination(k), trial_.bytes, trial_, before, me(), k)) return false;
  }
  return true;
}

bool operands::full_in(const std::byte* destination, int rank, int late) const {
  for (int k = 0; k < flow_.destination_blocks(); ++k) {
    const int from = flow_.sender(rank, k);
    if (from < 0 || from == late) continue;
    if (!holds(destination + static_cast<std::size_t>(k) * trial_.bytes, trial_.bytes, trial_,
               content::true_data, from, flow_.source_block(from, rank)))
      return false;
  }
  return true;
}

bool operands::next_is_full() const {
  std::vector<std::byte> copy(static_cast<std::size_t>(flow_.destination_blocks()) * trial_.bytes);
  upc_memget(copy.data(), arena_.destination(next()), copy.size());
  return full_in(copy.data(), next(), -1);
}

const char* operands::fault_at_end() const {
  if (!trial_.what.has_data()) return nullptr;
  for (int k = 0; k < flow_.destination_blocks(); ++k)
    if (writes_own(trial_.out) &&
        !holds(block_of_destination(k), trial_.bytes, trial_, content::taken_back, me(), k))
      return "its destination was written after it had left";
  if (!writes_own(trial_.out) && !full()) return "its destination is wrong when all have left";
  for (int k = 0; k < flow_.destination_blocks(); ++k)
    if (!writes_own(trial_.out) && flow_.sender(me(), k) < 0 &&
        !holds(block_of_destination(k), trial_.bytes, trial_, content::untouched, me(), k))
      return "a destination was written that receives nothing";
  if (!holds(block_of_destination(flow_.destination_blocks()), arena::margin, trial_, content::trap))
    return "its memory was written behind the destination";
  if (!holds(arena_.local(arena_.trap(me())), trial_.bytes, trial_, content::trap))
    return "a pointer was followed before its owner had entered or after it had left";
  return nullptr;
}

void operands::write_destination(content what) const {
  for (int k = 0; k < flow_.destination_blocks(); ++k)
    fill(block_of_destination(k), trial_.bytes, trial_, what, me(), k);
}

void operands::write_source(int rank, content what) const {
  const int first = flow_.source_block(rank, 0), blocks = trial_.what.slices ? THREADS : 1;
  const std::size_t bytes = static_cast<std::size_t>(blocks) * trial_.bytes;
  const upc_shared_ptr_t to =
      behind(arena_.source(trial_, rank), static_cast<std::size_t>(first) * trial_.bytes);
  std::vector<std::byte> remote(rank == me() ? 0 : bytes);
  std::byte* at = rank == me() ? arena_.local(to) : remote.data();
  for (int b = 0; b < blocks; ++b)
    fill(at + static_cast<std::size_t>(b) * trial_.bytes, trial_.bytes, trial_, what, rank, first + b);
  if (rank != me()) upc_memput(to, remote.data(), bytes);
}

// What is not valid yet leads to the trap of the same thread, what is valid no more to that of another one.
void operands::write_arrays(arrays what) const {
  const auto element = [](std::byte* array, int i, const auto& value) {
    std::memcpy(array + static_cast<std::size_t>(i) * sizeof value, &value, sizeof value);
  };
  const auto place = [&](upc_shared_ptr_t base, int block) {
    if (what == arrays::valid) return behind(base, static_cast<std::size_t>(block) * trial_.bytes);
    const int thread = static_cast<int>(base.thread);
    return arena_.trap(what == arrays::not_yet ? thread : (thread + 1) % THREADS);
  };
  std::byte* const places = arena_.local(arena_.places_of_destinations(me()));
  std::byte* const sources = arena_.local(arena_.places_of_sources(me()));
  const bool to_root = trial_.what.shape == pattern::to_root,
             from_root = trial_.what.shape == pattern::from_root;
  const bool row_of_places = trial_.what.shape == pattern::all_pairs;
  const bool row_of_sources = row_of_places && trial_.what.slices;
  const upc_shared_ptr_t destination = arena_.destination(to_root ? trial_.root : me());
  const upc_shared_ptr_t source = arena_.source(trial_, from_root ? trial_.root : me());
  for (int i = 0; i < (row_of_places ? THREADS : 1); ++i)
    element(places, i, place(destination, row_of_places ? i : to_root ? me() : 0));
  for (int i = 0; i < (row_of_sources ? THREADS : 1); ++i) {
    element(sources, i, place(source, row_of_sources ? i : from_root && trial_.what.slices ? me() : 0));
    element(arena_.local(arena_.sizes(me())), i, trial_.bytes);
  }
  const int named = flow_.permuted(me());
  const int target = what == arrays::valid ? named : what == arrays::not_yet ? me() : (named + 1) % THREADS;
  element(arena_.local(arena_.permutation(me())), 0, static_cast<std::size_t>(target));
}

} // namespace modes
