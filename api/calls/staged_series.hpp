// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/calls/staging.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace weft::unequal {
struct block;
}

namespace weft::api {

// How a large call on operands that may be ordinary memory is cut into a series of operations: see
// progress::series. All members must cut alike, so by what all give alike: the bytes that the member with the
// longest source has, and those of a block.
struct series_cut {
  static constexpr std::uint64_t from = 8 << 20, wanted = 1 << 20, least = 16 << 10; // bytes
  // A call that is not cut is a series of one operation where this rank copies so much: that is no matter of
  // other ranks, since its plan is the same. Not in checked mode, which looks at the source in the post.
  static constexpr std::uint64_t alone = 2 << 20;
  static bool is_copied_later(std::uint64_t bytes) { return bytes >= alone && !block_check::on; }
  static constexpr std::uint32_t most = 16;   // pieces: half of a team's slots stay for other operations
  static constexpr std::uint32_t windows = 3; // pieces that a member has room for

  std::uint32_t pieces = 1;
  std::uint64_t piece = 0; // of a block

  // `unit`: what is not cut.
  static series_cut of(std::uint64_t source, std::uint64_t block, std::uint64_t unit = staged_block::line) {
    if (source < from || block < 2 * least) return {1, block};
    const std::uint64_t pieces = std::min({source / wanted, block / least, std::uint64_t{most}});
    const std::uint64_t piece = ((block + pieces - 1) / pieces + unit - 1) / unit * unit;
    return {static_cast<std::uint32_t>((block + piece - 1) / piece), piece};
  }
};

// One piece's part of the operands. Copied are `count` blocks of so many bytes that lie `stride` apart, but
// for one of them, and stand in whole lines one behind the other then; or blocks of any sizes from where a
// list says, to where `given` does.
struct staged_piece : graph::stand_in {
  struct copied {
    const std::byte* from = nullptr;
    std::uint64_t stride = 0, bytes = 0;
    std::uint32_t count = 0, but = ~std::uint32_t{0};
    const unequal::block* listed = nullptr;

    bool is_there() const { return count == 0 || is_mapped(from, (count - 1) * stride + bytes); }
  };

  class staged_series* series = nullptr;
  std::uint32_t number = 0;
  copied in;
  bool gone = false;             // checked mode: it was not there when it was to be copied
  std::uint32_t block = 0;       // that is being copied
  std::uint64_t block_bytes = 0; // of it, that are
  std::byte* room = nullptr;
  unequal::block* given = nullptr; // where others find the copies, if these may move
  std::uint32_t givens = 0;
  staged_block* more = nullptr; // room of its own, beyond the windows
  std::byte* results = nullptr; // where the program wants them
  const std::byte* made = nullptr;
  std::uint64_t result_bytes = 0;
};

// What a rank has of a series whose operands are ordinary memory there: room for a few pieces, in a block of
// the pool, and this in front of it. A piece is copied into a window when the one that had it is over; the
// first ones are copied when the series is posted. So a call of any size takes room for three pieces of
// sixteen. A series of one piece copies nothing in its post.
//
// A member that has not yet come holds up the first piece, and those that want its window. Where nothing
// else than room keeps a piece from others that are there, it gets room of its own after a moment, if the
// heap has some.
//
// Under progress ownership, once the series is posted.
class staged_series {
public:
  // For so many pieces, of whose bytes none is longer. Errors: the heap has no room.
  struct giving_back {
    void operator()(staged_series* series) const noexcept { series->give_back(); }
  };
  using held = std::unique_ptr<staged_series, giving_back>;
  static held take(runtime& rt, const char* call, const series_cut& cut, std::uint64_t piece_bytes);
  void give_back() noexcept;

  staged_piece& piece(std::uint32_t k) { return pieces_[k]; }
  // Copies what the first pieces give, if there are several.
  void copy_first();
  std::uint64_t place_of(const staged_piece& p) const { return rt_->private_offset(p.room); }

private:
  using readiness = graph::stand_in::readiness;
  using clock = std::chrono::steady_clock;

  static readiness begin(graph::stand_in& s, std::uint64_t budget);
  static graph::stand_in::outcome end(graph::stand_in& s, bool went_well);
  readiness prepare(staged_piece& p, std::uint64_t budget);
  bool has_room(const staged_piece& p) const;
  bool finds_more(staged_piece& p);
  bool copy(staged_piece& p, std::uint64_t budget);
  // A block to be copied, if it is.
  struct move {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::uint64_t bytes = 0;
  };
  move move_of(const staged_piece& p, std::uint32_t block) const;

  runtime* rt_ = nullptr;
  staged_block* block_ = nullptr;
  std::uint64_t window_ = 0; // bytes
  std::uint32_t count_ = 0, left_ = 0;
  std::uint32_t over_ = 0; // pieces, a bit each
  clock::time_point begun_{};
  std::array<staged_piece, series_cut::most> pieces_{};
};

// Posts the pieces of a call; `ready_of` each says its checked_computation. The series has them then.
template <class Made, class ReadyOf>
upc_coll_handle_t post_series(const collective_call& c, staged_series::held& series, std::span<Made> made,
                              ReadyOf&& ready_of) {
  if (series) series->copy_first();
  std::array<collectives::bound_request, series_cut::most> all;
  for (std::size_t k = 0; k != made.size(); ++k) {
    auto& ready = ready_of(made[k]);
    all[k] = {ready.call.request, ready.call.at};
    all[k].at.task = &ready.task;
  }
  const upc_coll_handle_t h = c.post(std::span(all.data(), made.size()));
  static_cast<void>(series.release());
  return h;
}

} // namespace weft::api
