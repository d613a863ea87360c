// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/calls/staged_series.hpp"
#include "engine/plan/call_fields.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "include/upc_collective_cray.h"

#include <array>
#include <numeric>
#include <span>

namespace weft::api {

// A reduction of vectors, element by element, as it is called.
struct vector_call {
  upc_shared_ptr_t dst{}, src{};
  std::size_t nelems = 0; // of a reduce-scatter: in each block
  upc_team_t team = 0;
  upc_op_t op = 0;
  cray_upc_dtype_t dtype{};
  int root = 0; // of a reduce
  bool async = false;
  const std::size_t* counts = nullptr; // of a reduce-scatter whose blocks are unequal

  bool operator==(const vector_call& other) const {
    return is_same(dst, other.dst) && is_same(src, other.src) && nelems == other.nelems &&
           team == other.team && op == other.op && dtype == other.dtype && root == other.root &&
           async == other.async && counts == other.counts;
  }
};

// Which one.
struct vector_kind {
  const char* name;
  collectives::operation op;
  reductions::vector_reduction::form what = reductions::vector_reduction::form::all;
  collectives::caller by = collectives::caller::collective;
};

// As the members compare it: see progress::call_record.
constexpr std::uint64_t type_and_op(reductions::element type, reductions::operation op) {
  return graph::packed(static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(op));
}

using checked_vectors = checked_computation<reductions::vector_reduction>;

// What begins if all is right. An operator that the program has made is held then: the operation gives it
// back.
checked_vectors check(const vector_kind& kind, const vector_call& v);

// Which operands of the calling rank, by its rank in the team, lie in ordinary memory.
struct ordinary_vectors {
  std::uint32_t me;
  bool dst, src;
};
// Puts others in their place: for all members read and write each other's vectors.
void stage(staging& room, const ordinary_vectors& which, const collectives::request& call,
           reductions::vector_reduction& r, graph::binding& at);

// The pieces of one call, which is cut into a series. What they keep is given up unless they begin.
struct series_of_vectors {
  series_cut cut;
  std::array<checked_vectors, series_cut::most> all{};
  std::size_t count = 0;
  bool begun = false;

  explicit series_of_vectors(const series_cut& c) : cut(c) {}
  series_of_vectors(const series_of_vectors&) = delete;
  series_of_vectors& operator=(const series_of_vectors&) = delete;
  ~series_of_vectors();
  std::span<checked_vectors> made() { return {all.data(), count}; }
  void add(const checked_vectors& one) { all[count++] = one; }
  // Of so many elements of a size; `make` makes a piece: from an element on, so many.
  template <class Make> void add_all(std::size_t elements, std::size_t size, Make&& make) {
    const std::size_t each = cut.piece / size;
    for (std::size_t begin = 0; begin < elements; begin += each)
      add(make(begin, std::min(each, elements - begin)));
  }
  static series_cut cut_of(std::uint64_t bytes, std::uint64_t element) {
    return series_cut::of(bytes, bytes, std::lcm(staged_block::line, element));
  }
  // Of one piece, which is copied later.
  static bool is_copied_later(const ordinary_vectors& which, std::uint64_t bytes) {
    return which.src && series_cut::is_copied_later(bytes);
  }
};
upc_coll_handle_t start(const collective_call& c, const ordinary_vectors& which, series_of_vectors& series);

} // namespace weft::api
