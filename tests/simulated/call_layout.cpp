// What a call moves, from where to where: the reference, and the rows of its arrays.
#include "engine/collectives/operations.hpp"
#include "engine/transport/simulated/random.hpp"
#include "tests/simulated/collective_case.hpp"
#include "tests/simulated/gathering_task.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using transport::sim::seeded_random;
using moved = collective_case::moved;

bool has_rows(operation op) {
  return op >= operation::broadcast_x && !collectives::computes(op);
}

// Packs blocks into the areas of the ranks, sometimes with a gap.
class packer {
public:
  packer(std::uint32_t ranks, seeded_random& random) : used_(ranks), random_(random) {}
  std::uint64_t place(std::uint32_t rank, std::uint64_t bytes) {
    if (random_.coin(0.3)) used_[rank] += random_.below(8);
    const std::uint64_t at = used_[rank];
    used_[rank] += bytes;
    return at;
  }
  std::uint64_t most() const { return *std::max_element(used_.begin(), used_.end()); }

private:
  std::vector<std::uint64_t> used_;
  seeded_random& random_;
};

class layout {
public:
  layout(std::uint32_t ranks, const request& r, std::uint64_t seed, std::uint64_t most)
      : ranks_(ranks), most_(most), random_(seed), src_(ranks, random_), dst_(ranks, random_) {
    made_.request = r;
  }

  collective_case::call make() {
    switch (made_.request.op) {
    case operation::barrier:
      break;
    case operation::broadcast_x:
    case operation::scatter_x:
    case operation::gather_x:
      rooted_rows();
      break;
    case operation::gather_all_x:
      gather_all_rows();
      break;
    case operation::exchange_x:
      made_.request.in_place ? exchange_rows_in_place() : exchange_rows();
      break;
    case operation::permute:
    case operation::permute_x:
      permutation();
      made_.request.op == operation::permute ? ruled() : permute_rows();
      break;
    default:
      ruled();
    }
    made_.area = std::max({made_.area, src_.most(), dst_.most()});
    return std::move(made_);
  }

private:
  void add(const moved& m) {
    made_.blocks.push_back(m);
    made_.area = std::max({made_.area, m.src + m.bytes, m.dst + m.bytes});
  }

  // The operations without arrays: their definition.
  void ruled() {
    const request& r = made_.request;
    const std::uint64_t n = r.bytes;
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      for (std::uint32_t j = 0; j < ranks_; ++j) {
        if (r.op == operation::broadcast && i == r.root) add({i, j, 0, 0, n});
        if (r.op == operation::scatter && i == r.root) add({i, j, j * n, 0, n});
        if (r.op == operation::gather && j == r.root) add({i, j, 0, i * n, n});
        if (r.op == operation::gather_all) add({i, j, r.in_place ? i * n : 0, i * n, n});
        if (r.op == operation::reduce && j == r.root) add({i, j, 0, i * n, n});
        if (r.op == operation::reduce_all || r.op == operation::prefix_reduce) add({i, j, 0, i * n, n});
        if (r.op == operation::exchange) add({i, j, j * n, i * n, n});
        if (r.op == operation::permute && j == made_.perm[i]) add({i, j, 0, 0, n});
      }
    }
  }

  std::uint64_t size() {
    constexpr std::uint64_t sizes[] = {0, 1, 8, 37, 1024, 2049, 20480, 70000};
    const std::uint64_t bytes = sizes[random_.below(8)];
    return bytes <= most_ ? bytes : most_ == 0 ? 0 : random_.below(most_);
  }

  void rooted_rows() {
    request& r = made_.request;
    const bool all = r.op == operation::broadcast_x;
    const std::uint32_t root = all ? r.root : static_cast<std::uint32_t>(random_.below(ranks_));
    for (std::uint32_t m = 0; m < ranks_; ++m) {
      const std::uint64_t bytes = all ? r.bytes : random_.coin(0.25) ? 0 : size();
      if (bytes == 0) continue;
      const bool gathers = r.op == operation::gather_x;
      const std::uint32_t from = gathers ? m : root, to = gathers ? root : m;
      add({from, to, all ? 0 : src_.place(from, bytes), dst_.place(to, bytes), bytes});
    }
  }

  void gather_all_rows() {
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      const std::uint64_t bytes = size();
      const bool in_place = made_.request.in_place;
      const std::uint64_t own = in_place ? dst_.place(i, bytes) : src_.place(i, bytes);
      for (std::uint32_t j = 0; j < ranks_; ++j)
        add({i, j, own, in_place && i == j ? own : dst_.place(j, bytes), bytes});
    }
  }

  void exchange_rows() {
    for (std::uint32_t i = 0; i < ranks_; ++i)
      for (std::uint32_t j = 0; j < ranks_; ++j) {
        const std::uint64_t bytes = size();
        add({i, j, src_.place(i, bytes), dst_.place(j, bytes), bytes});
      }
  }

  // Both blocks of a pair lie in places that are large enough for either.
  void exchange_rows_in_place() {
    for (std::uint32_t i = 0; i < ranks_; ++i)
      for (std::uint32_t j = i; j < ranks_; ++j) {
        const std::uint64_t there = size(), back = i == j ? there : size();
        const std::uint64_t room = std::max(there, back);
        const std::uint64_t at_i = dst_.place(i, room), at_j = i == j ? at_i : dst_.place(j, room);
        add({i, j, at_i, at_j, there});
        if (i != j) add({j, i, at_j, at_i, back});
      }
  }

  void permutation() {
    std::vector<std::uint32_t>& perm = made_.perm;
    perm.resize(ranks_);
    std::iota(perm.begin(), perm.end(), 0u);
    for (std::uint32_t k = ranks_; k > 1; --k)
      if (random_.coin(0.9)) std::swap(perm[k - 1], perm[random_.below(k)]);
  }

  void permute_rows() {
    std::vector<std::uint64_t> bytes(ranks_), room(ranks_), at(ranks_);
    for (std::uint64_t& b : bytes)
      b = size();
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      room[i] = std::max(room[i], bytes[i]);
      room[made_.perm[i]] = std::max(room[made_.perm[i]], bytes[i]);
    }
    for (std::uint32_t i = 0; i < ranks_; ++i)
      at[i] = dst_.place(i, room[i]);
    for (std::uint32_t i = 0; i < ranks_; ++i)
      add({i, made_.perm[i], made_.request.in_place ? at[i] : src_.place(i, bytes[i]), at[made_.perm[i]],
           bytes[i]});
  }

  const std::uint32_t ranks_;
  const std::uint64_t most_;
  seeded_random random_;
  packer src_, dst_;
  collective_case::call made_;
};

std::byte sent_byte(std::uint64_t call, std::uint32_t rank, std::uint64_t at) {
  const std::uint64_t mixed = call * 64 + rank + at * 0x9e3779b97f4a7c15u;
  const auto value = static_cast<std::uint8_t>((mixed * 0xd6e8feb86659fd93u) >> 56);
  return static_cast<std::byte>(value == static_cast<std::uint8_t>(poison) ? 0x11 : value);
}

} // namespace

collective_case::call lay_out(std::uint32_t ranks, const request& r, std::uint64_t seed,
                              std::uint64_t most_bytes) {
  return layout(ranks, r, seed, most_bytes).make();
}

call_places places_of(const collective_case& c, std::uint64_t begin) {
  call_places at{};
  at.dst_area = begin + c.skew;
  at.src_area = at.dst_area + c.stride();
  at.dst_rows = begin + 2 * c.stride();
  at.src_rows = at.dst_rows + 16 * c.ranks;
  at.sizes = at.src_rows + 16 * c.ranks;
  at.perm = at.sizes + 8 * c.ranks;
  return at;
}

graph::binding call_places::binding(const request& r) const {
  const bool rows = has_rows(r.op);
  const std::uint64_t dst = rows ? dst_rows : dst_area;
  // A broadcast's source is no array; its place in the area is 0.
  const std::uint64_t src = rows && r.op != operation::broadcast_x ? src_rows : src_area;
  const bool hands_out = r.by_ranges && r.op == operation::prefix_reduce;
  const graph::task* const task = &gathering_tasks[r.bytes % 3 == 0][hands_out];
  return {.dst = dst,
          .src = r.in_place ? dst : src,
          .sizes = sizes,
          .perm = perm,
          .task = collectives::computes(r.op) ? task : nullptr};
}

std::vector<std::byte> source_before(const collective_case& c, const collective_case::call& k,
                                     std::uint64_t number, std::uint32_t rank) {
  std::vector<std::byte> area(c.stride() - c.skew, poison);
  for (const moved& m : k.blocks)
    if (m.from == rank)
      for (std::uint64_t at = m.src; at < m.src + m.bytes; ++at)
        area[at] = sent_byte(number, rank, at);
  return area;
}

std::vector<std::byte> destination_after(const collective_case& c, const collective_case::call& k,
                                         std::uint64_t number, std::uint32_t rank) {
  std::vector<std::byte> area = k.request.in_place ? source_before(c, k, number, rank)
                                                   : std::vector<std::byte>(c.stride() - c.skew, poison);
  for (const moved& m : k.blocks)
    if (m.to == rank)
      for (std::uint64_t at = 0; at < m.bytes; ++at)
        area[m.dst + at] = sent_byte(number, m.from, m.src + at);
  return area;
}

void write_rows(const collective_case&, const collective_case::call& k, std::uint32_t rank,
                std::byte* segment, const call_places& at) {
  struct pointer {
    std::uint64_t offset = 0;
    std::uint32_t thread = 0, phase = 0;
  };
  const request& r = k.request;
  if (!k.perm.empty()) {
    const std::uint64_t wide = k.perm[rank];
    std::memcpy(segment + at.perm, r.wide_perm ? static_cast<const void*>(&wide) : &k.perm[rank],
                r.wide_perm ? 8 : 4);
  }
  if (!has_rows(r.op)) return;
  std::memset(segment + at.dst_rows, 0, at.perm - at.dst_rows);
  const std::uint64_t src_area = r.in_place ? at.dst_area : at.src_area;
  const auto put = [&](std::uint64_t array, std::uint64_t column, auto value) {
    std::memcpy(segment + array + column * sizeof value, &value, sizeof value);
  };
  const bool matrix = r.op == operation::exchange_x, all = r.op == operation::gather_all_x;
  for (const moved& m : k.blocks) {
    const pointer src{src_area + m.src, m.from, 0}, dst{at.dst_area + m.dst, m.to, 0};
    const bool mine_out = m.from == rank, mine_in = m.to == rank;
    if ((r.op == operation::scatter_x ? mine_in : mine_out) && r.op != operation::broadcast_x) {
      put(at.sizes, matrix ? m.to : 0, m.bytes);
      if (m.bytes != 0 && !r.in_place) put(at.src_rows, matrix ? m.to : 0, src);
      if (m.bytes != 0 && r.in_place) put(at.dst_rows, matrix ? m.to : all ? rank : 0, src);
    }
    if ((r.op == operation::gather_x ? mine_out : mine_in) && m.bytes != 0)
      put(at.dst_rows, matrix || all ? m.from : 0, dst);
  }
}

std::string check_destination(const collective_case& c, const collective_case::call& k, std::uint64_t number,
                              std::uint32_t rank, const std::byte* destination) {
  const std::vector<std::byte> wanted = destination_after(c, k, number, rank);
  for (std::uint64_t at = 0; at < wanted.size(); ++at) {
    if (destination[at] == wanted[at]) continue;
    return "byte " + std::to_string(at) + " of rank " + std::to_string(rank) + "'s destination is " +
           std::to_string(static_cast<int>(destination[at])) + " and should be " +
           std::to_string(static_cast<int>(wanted[at]));
  }
  return {};
}

} // namespace weft::tests
