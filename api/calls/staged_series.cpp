// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/staged_series.hpp"

#include "engine/memory/copy.hpp"
#include "engine/unequal/exchange.hpp"

#include <new>

namespace weft::api {

staged_series::held staged_series::take(runtime& rt, const char* call, const series_cut& cut,
                                        std::uint64_t piece_bytes) {
  const std::uint64_t window = staging::lines(piece_bytes);
  const std::uint32_t windows = std::min(cut.pieces, series_cut::windows);
  staged_block* const b = staging::take(rt, call, staging::lines(sizeof(staged_series)) + windows * window);
  auto* const series = new (b->memory()) staged_series;
  series->rt_ = &rt;
  series->block_ = b;
  series->window_ = window;
  series->count_ = series->left_ = cut.pieces;
  series->begun_ = clock::now();
  for (std::uint32_t k = 0; k != cut.pieces; ++k) {
    staged_piece& p = series->pieces_[k];
    p.begin = begin;
    p.end = end;
    p.series = series;
    p.number = k;
    p.room = b->memory() + staging::lines(sizeof(staged_series)) + k % series_cut::windows * window;
  }
  return held(series);
}

void staged_series::give_back() noexcept {
  staged_blocks().give_back(*block_);
}

void staged_series::copy_first() {
  for (std::uint32_t k = 0; k != std::min(count_, series_cut::windows) && count_ != 1; ++k)
    copy(pieces_[k], ~std::uint64_t{0});
}

graph::stand_in::readiness staged_series::begin(graph::stand_in& s, std::uint64_t budget) {
  auto& p = static_cast<staged_piece&>(s);
  return p.series->prepare(p, budget);
}

graph::stand_in::readiness staged_series::prepare(staged_piece& p, std::uint64_t budget) {
  if (!has_room(p) && (budget == 0 || !finds_more(p))) {
    const bool may_find = p.given != nullptr && (over_ & 1) == 0;
    return may_find ? readiness::soon : readiness::waits;
  }
  return copy(p, budget) ? readiness::ready : readiness::moved;
}

bool staged_series::has_room(const staged_piece& p) const {
  return p.more != nullptr || p.number < series_cut::windows ||
         (over_ >> (p.number - series_cut::windows) & 1) != 0;
}

bool staged_series::finds_more(staged_piece& p) {
  using namespace std::chrono_literals;
  if (p.given == nullptr || (over_ & 1) != 0 || clock::now() - begun_ < 20ms) return false;
  p.more = staged_blocks().take(*rt_, window_);
  if (p.more == nullptr) {
    p.given = nullptr; // it waits
    return false;
  }
  const std::uint64_t before = place_of(p);
  p.room = p.more->memory();
  for (std::uint32_t k = 0; k != p.givens; ++k)
    if (p.given[k].at - before < window_) p.given[k].at += place_of(p) - before;
  return true;
}

staged_series::move staged_series::move_of(const staged_piece& p, std::uint32_t block) const {
  const staged_piece::copied& in = p.in;
  if (block == in.but) return {};
  if (in.listed == nullptr) {
    const std::uint32_t place = block - (block > in.but ? 1 : 0);
    return {in.from + block * in.stride, p.room + place * staging::lines(in.bytes), in.bytes};
  }
  const unequal::block &from = in.listed[block], &to = p.given[block];
  // One copy for several; and some stay where they are.
  const bool again = to.at == from.at || (block != 0 && to.at == p.given[block - 1].at);
  return {rt_->own_memory(from.at), rt_->own_memory(to.at), again ? 0 : from.bytes};
}

bool staged_series::copy(staged_piece& p, std::uint64_t budget) {
  if (block_check::on && budget != 0 && p.block == 0 && p.block_bytes == 0) p.gone |= !p.in.is_there();
  if (p.gone) return true;
  for (; p.block != p.in.count; ++p.block, p.block_bytes = 0) {
    const move m = move_of(p, p.block);
    const std::uint64_t now = std::min(budget, m.bytes - p.block_bytes);
    engine::copy_bytes(m.to + p.block_bytes, m.from + p.block_bytes, now);
    rt_->counts().bytes_staged.add_concurrent(now);
    budget -= now;
    if ((p.block_bytes += now) != m.bytes) return false;
  }
  return true;
}

graph::stand_in::outcome staged_series::end(graph::stand_in& s, bool went_well) {
  auto& p = static_cast<staged_piece&>(s);
  staged_series& series = *p.series;
  graph::stand_in::outcome o{nullptr, p.result_bytes};
  if (p.gone) o = {p.in.from, p.in.bytes, true};
  if (went_well && p.result_bytes != 0) {
    if (block_check::on && !is_mapped(p.results, p.result_bytes))
      o.gone = p.results;
    else
      engine::copy_bytes(p.results, p.made, p.result_bytes);
    series.rt_->counts().bytes_staged.add_concurrent(p.result_bytes);
  }
  if (p.more != nullptr) staged_blocks().give_back(*p.more);
  series.over_ |= 1u << p.number;
  if (--series.left_ == 0) series.give_back();
  return o;
}

} // namespace weft::api
