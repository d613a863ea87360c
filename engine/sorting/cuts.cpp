// SPDX-License-Identifier: BSD-3-Clause
#include "engine/sorting/cuts.hpp"

#include <algorithm>
#include <cstring>

namespace weft::sorting {

// Among a member's elements: in the middle of those that it stands for.
std::uint64_t cuts::position(std::uint32_t place, std::uint64_t number) const {
  const std::uint64_t all = count(place), samples = samples_of(sorting_, all);
  return static_cast<std::uint64_t>((__uint128_t{2 * number + 1} * all) / (2 * samples));
}

void cuts::sample(std::byte* row, const std::byte* elements, std::uint64_t count) const {
  const std::uint64_t samples = samples_of(sorting_, count), size = sorting_.of.size;
  const std::uint32_t place = room_.place_in_line()[work_.me];
  for (std::uint64_t k = 0; k < samples; ++k)
    std::memcpy(row + k * size, elements + position(place, k) * size, size);
}

cuts::sample_of cuts::which(std::uint32_t id) const {
  const auto most = static_cast<std::uint32_t>(most_samples(sorting_));
  return {id / most, id % most};
}

const std::byte* cuts::element(const std::byte* rows, std::uint32_t id) const {
  const sample_of s = which(id);
  return rows + room_.line()[s.place] * work_.block + s.number * sorting_.of.size;
}

// Of equal ones that of the rank that is first in line.
bool cuts::comes_before(const std::byte* rows, std::uint32_t a, std::uint32_t b) const {
  return sorting_.how.less(element(rows, a), element(rows, b), sorting_.of_order());
}

// Merges the rows, two neighbours at a time. Returns how many samples there are; they are in the first half.
std::uint32_t cuts::put_in_order(const std::byte* rows) const {
  const auto most = static_cast<std::uint32_t>(most_samples(sorting_));
  std::uint32_t* const ids = room_.samples();
  std::uint32_t* const merged = ids + work_.members * most;
  std::uint64_t* const bounds = room_.bounds();
  std::uint32_t all = 0, runs = 0;
  for (std::uint32_t place = 0; place < work_.members; ++place) {
    bounds[runs++] = all;
    for (std::uint32_t k = 0; k < samples_of(sorting_, count(place)); ++k)
      ids[all++] = place * most + k;
  }
  bounds[runs] = all;
  for (; runs > 1; runs = (runs + 1) / 2) {
    for (std::uint32_t run = 0; run < runs; run += 2) {
      std::uint64_t a = bounds[run], b = bounds[std::min(run + 1, runs)], to = a;
      const std::uint64_t end_a = b, end_b = bounds[std::min(run + 2, runs)];
      bounds[run / 2] = a;
      while (to != end_b) {
        const bool second = a == end_a || (b != end_b && comes_before(rows, ids[b], ids[a]));
        merged[to++] = second ? ids[b++] : ids[a++];
      }
    }
    bounds[(runs + 1) / 2] = all;
    std::copy_n(merged, all, ids);
  }
  return all;
}

// How many of mine stand before a sample, or before or beside it.
std::uint64_t cuts::in_front(const std::byte* elements, const std::byte* sample, bool equal_too) const {
  const std::uint64_t size = sorting_.of.size;
  std::uint64_t low = 0, high = count(room_.place_in_line()[work_.me]);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::byte* const it = elements + middle * size;
    const bool before = equal_too ? !sorting_.how.less(sample, it, sorting_.of_order())
                                  : sorting_.how.less(it, sample, sorting_.of_order());
    if (before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void cuts::make(std::uint64_t* mine, const std::byte* rows, const std::byte* elements) const {
  const std::uint32_t all = put_in_order(rows), last = buckets(work_.members);
  const std::uint32_t* const ids = room_.samples();
  const std::uint32_t me = room_.place_in_line()[work_.me];
  mine[0] = 0;
  std::uint32_t next = 0;
  double before = 0; // elements that samples stand for
  for (std::uint32_t bucket = 1; bucket < last; ++bucket) {
    const auto wanted = static_cast<double>(target(bucket));
    for (; next != all; ++next) {
      const std::uint64_t elements_there = count(which(ids[next]).place);
      const double stands_for =
          static_cast<double>(elements_there) / static_cast<double>(samples_of(sorting_, elements_there));
      if (before + stands_for / 2 > wanted) break;
      before += stands_for;
    }
    std::uint64_t here = count(me);
    if (next != all) {
      const sample_of chosen = which(ids[next]);
      here = chosen.place == me
                 ? position(me, chosen.number)
                 : in_front(elements, element(rows, ids[next]), /*equal_too=*/me < chosen.place);
    }
    mine[bucket] = std::max(here, mine[bucket - 1]);
  }
}

// How many elements the buckets in front of one are to have.
std::uint64_t cuts::target(std::uint32_t bucket) const {
  const std::uint32_t all = buckets(work_.members);
  if (all < work_.members || bucket == all) return sorting_.of.elements * bucket / all;
  std::uint64_t elements = 0;
  for (std::uint32_t before = 0; before < bucket; ++before)
    elements += count(before);
  return elements;
}

std::uint64_t cuts::by_number(std::uint32_t place, std::uint32_t bucket) const {
  if (sorting_.of.elements == 0) return 0;
  return static_cast<std::uint64_t>(__uint128_t{count(place)} * target(bucket) / sorting_.of.elements);
}

std::uint64_t cuts::cut(const std::byte* rows, std::uint32_t place, std::uint32_t bucket) const {
  if (bucket == buckets(work_.members)) return count(place);
  std::uint64_t at;
  std::memcpy(&at, rows + room_.line()[place] * work_.block + bucket * sizeof at, sizeof at);
  return at;
}

bool cuts::in_bounds(const std::byte* rows) const {
  for (std::uint32_t bucket = 0; bucket < buckets(work_.members); ++bucket) {
    std::uint64_t all = 0;
    for (std::uint32_t place = 0; place < work_.members; ++place)
      all += cut(rows, place, bucket + 1) - cut(rows, place, bucket);
    if (all > target(bucket + 1) - target(bucket) + sorting_.slack) return false;
  }
  return true;
}

void cuts::read(const std::byte* rows) const {
  const std::uint32_t mine = room_.place_in_line()[work_.me], last = buckets(work_.members);
  const bool usable = in_bounds(rows);
  room::state& now = room_.now();
  now.begin = 0;
  std::uint64_t all = 0;
  for (std::uint32_t place = 0; place < work_.members; ++place) {
    const auto at = [&](std::uint32_t bucket) {
      if (usable || bucket >= last) return cut(rows, place, std::min(bucket, last));
      return by_number(place, bucket);
    };
    const std::uint64_t from = at(mine);
    room_.cut_from()[place] = from;
    room_.bounds()[place] = all;
    now.begin += from;
    all += at(mine + 1) - from;
  }
  room_.bounds()[work_.members] = all;
  now.end = now.begin + all;
  now.runs = {.runs = work_.members};
}

} // namespace weft::sorting
