// SPDX-License-Identifier: BSD-3-Clause
// Movements of equal blocks between operands of the calling rank's own, which may be ordinary memory.
#include "api/calls/staged_series.hpp"
#include "api/calls/unequal_call.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace weft::api {
namespace {

// The same of several calls that are the pieces of one. Where the source is copied, a few pieces are at a
// time.
upc_coll_handle_t start_series(const collective_call& c, std::span<const unequal_call> calls,
                               const series_cut& cut, std::uint64_t stride) {
  std::array<checked_exchange, series_cut::most> all;
  const std::span made(all.data(), calls.size());
  for (std::size_t k = 0; k != calls.size(); ++k)
    made[k] = check_unequal(c, calls[k]);
  staged_series::held series;
  for (std::uint32_t k = 0; k != calls.size(); ++k) {
    unequal::exchange& e = made[k].ready.task;
    const std::span<block> given = made[k].given(calls[k]);
    if (!made[k].stages || given.empty()) continue;
    const bool one = calls[k].same || given.size() == 1; // for all
    const auto own = one ? ~std::uint32_t{0} : static_cast<std::uint32_t>(made[k].own - given.data());
    const auto first = std::ranges::find_if(given, [](const block& b) { return b.bytes != 0; });
    const bool for_me = calls[k].from_one && &*first == made[k].own;
    const auto count = for_me ? 0 : one ? 1 : static_cast<std::uint32_t>(given.size());
    if (!series) series = staged_series::take(c.rt, c.name, cut, count * staging::lines(cut.piece));
    staged_piece& p = series->piece(k);
    p.in = {c.rt.own_memory(first->at), stride, first->bytes, count, own};
    p.given = given.data();
    p.givens = static_cast<std::uint32_t>(given.size());
    std::uint64_t at = series->place_of(p);
    for (block& b : given) {
      if (!e.same && &b == made[k].own) continue;
      b.at = at;
      if (!one) at += staging::lines(b.bytes);
    }
    e.aside = &p;
  }
  const upc_coll_handle_t h = post_series(
      c, series, made, [](checked_exchange & one) -> auto& { return one.ready; });
  for (checked_exchange& one : made)
    static_cast<void>(one.all.release());
  return h;
}

// Of equal blocks, side by side, a piece of each.
struct equal_blocks {
  std::vector<std::size_t> sizes, of_one;
  std::vector<std::ptrdiff_t> side_by_side, in_one_place;

  void set(std::uint32_t threads, std::size_t nbytes, std::size_t piece) {
    sizes.assign(threads, piece);
    in_one_place.resize(threads);
    side_by_side.resize(threads);
    for (std::size_t k = 0; k != threads; ++k)
      side_by_side[k] = static_cast<std::ptrdiff_t>(k * nbytes);
  }
  void only_for(std::uint32_t rank) {
    of_one.assign(sizes.size(), 0);
    of_one[rank] = sizes[rank];
  }
  blocks_of_end end(upc_shared_ptr_t at, std::uint32_t count, bool same, const char* name) const {
    return {at, sizes.data(), (same ? in_one_place : side_by_side).data(), count, name, name, name};
  }
};
upc_shared_ptr_t behind(upc_shared_ptr_t p, std::uint64_t bytes) {
  return upc_isnull(p) != 0 ? p : upc_shared_ptr_t{p.addr + bytes, p.thread, p.phase};
}

} // namespace

upc_coll_handle_t move_own(const char* name, collectives::operation op, upc_shared_ptr_t dst,
                           upc_shared_ptr_t src, std::size_t nbytes, std::uint32_t root, upc_team_t team) {
  const mode m{.in = graph::sync::my, .out = graph::sync::my, .async = true};
  const collective_call c = begin_collective(name, m, team);
  const bool here = c.rank(c.rt.rank()) == root;
  const bool one = op == operation::permute; // to the root, and from whichever rank
  const bool all = op == operation::exchange || op == operation::gather_all || one;
  const std::size_t every = product(name, "bytes of dst", nbytes, c.threads);
  const bool gives = all || here || op == operation::gather,
             takes = all || !(op == operation::gather && !here);
  const bool many_out = op == operation::exchange || op == operation::scatter;
  const bool many_in = op == operation::exchange || op == operation::gather_all || op == operation::gather;
  const area to{"dst", dst, takes ? (many_in ? every : nbytes) : 0},
      from{"src", src, gives ? (many_out ? every : nbytes) : 0};
  for (const area& a : {to, from})
    if (a.bytes != 0) require_operand(c.rt, name, a.argument, a.at, a.bytes);
  const bool in_place = dst.addr == src.addr && (op == operation::exchange || op == operation::broadcast);
  if (!in_place && overlap(to, from))
    fail(name, "dst", std::to_string(to.bytes.plain()) + " bytes",
         "overlap src: pass two spans that have no element in common");
  const collectives::request r{
      .op = op, .in = graph::sync::my, .out = graph::sync::my, .root = root, .bytes = nbytes, .apart = true};
  if (!one && c.rt.teams().touches_own(team, r)) {
    graph::task nothing;
    staging room(c.rt, name, true);
    graph::binding at{.dst = dst.addr, .src = src.addr};
    // Checked mode looks at ordinary memory before it is touched: at the post, and when the results come.
    const bool reads = in_place && op == operation::exchange, looks = block_check::on;
    const std::uint64_t given = from.bytes.plain(), taken = to.bytes.plain();
    const bool in = given != 0 && (reads || (looks && is_ordinary(src)));
    const bool out = taken != 0 && looks && is_ordinary(dst);
    room.reserve((in ? staging::lines(given) : 0) + (out ? taken : 0));
    if (in)
      at.src = room.copy_in(src.addr, given);
    else
      count_operand(c.rt, src, given);
    if (out)
      room.results(dst.addr, at.dst = room.place(taken), taken);
    else
      count_operand(c.rt, dst, taken);
    nothing.aside = room.block();
    if (nothing.aside != nullptr) at.task = &nothing;
    const upc_coll_handle_t h = c.start(r, at);
    room.hand_on();
    return h;
  }
  const operation unequal = all                       ? operation::team_alltoallv
                            : op == operation::gather ? operation::team_gatherv
                                                      : operation::team_scatterv;
  const bool same = op == operation::broadcast || one,
             few_out = op == operation::gather_all || op == operation::gather;
  const std::uint32_t to_count = takes ? (many_in ? c.threads : 1) : 0,
                      from_count = gives ? (few_out ? 1 : c.threads) : 0;
  const series_cut cut =
      series_cut::of(c.threads == 1 ? 0 : static_cast<std::uint64_t>(many_out ? every : nbytes), nbytes);
  upc_handle_t h = 0;
  thread_local equal_blocks whole, rest; // keep their memory
  thread_local std::vector<unequal_call> series;
  if (cut.pieces != 1) whole.set(c.threads, nbytes, cut.piece);
  rest.set(c.threads, nbytes, nbytes - (cut.pieces - 1) * cut.piece);
  series.clear();
  for (std::uint32_t k = 0; k != cut.pieces; ++k) {
    equal_blocks& piece = k + 1 == cut.pieces ? rest : whole;
    if (one) piece.only_for(root);
    const std::uint64_t begin = k * cut.piece;
    series.push_back({name, unequal, team, one ? 0 : static_cast<int>(root), &h,
                      piece.end(behind(dst, begin), to_count, false, "dst"),
                      piece.end(behind(src, begin), from_count, same, "src"),
                      op == operation::gather_all ? caller::allgatherv : caller::collective,
                      in_place && op == operation::exchange, same, one});
    if (one) series.back().src.nbytes = piece.of_one.data();
  }
  if (series.size() != 1) return start_series(c, series, cut, nbytes);
  start_unequal(c, series.front());
  return h;
}

} // namespace weft::api
