// SPDX-License-Identifier: BSD-3-Clause
// Copies by one rank with handles, on the simulated machine: what a handle says is complete is in place, for
// its owner as well, whatever lands late, in pieces or out of order. By seeds, many at once, of any size,
// each rank on a host of its own, with barriers among them. Some are of rows.
//
// Mutations that this catches: a put without its flush; a copy that writes before it has read; a set or copy
// of one piece only; carry() that does nothing; rows that are flushed, or an end, while others are under way;
// a row at the place of another one.
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace weft::tests {
namespace {
using progress::one_sided_request;
using transport::simulated_transport;
using transport::simulation;
using one_sided_kind = one_sided_request::kind;

constexpr std::uint64_t fixed_bytes = 160'000, region_bytes = 200'000; // of each rank, by each rank

std::byte fixed(std::uint32_t rank, std::uint64_t k) {
  return static_cast<std::byte>((rank * 131 + k * 7 + 5) * 2654435761u >> 13);
}

class copying_rank {
public:
  copying_rank(std::uint64_t seed, const collective_case& c, simulated_transport& t)
      : draw_(seed * 64 + t.rank()), t_(t), engine_(t, drowsy()),
        all_(engine_.add_channel(team_of_all(c, t.rank(), 0, engine::first_mailbox_offset))), ranks_(c.ranks),
        meets_between_(seed % 2 == 0), begin_(data_of(c.ranks)),
        shadow_(c.ranks, std::vector<std::byte>(region_bytes, std::byte{0})) {
    engine_.meet_neighbours(neighbours_of(c, t.rank()));
  }
  static std::uint64_t data_of(std::uint32_t ranks) { return engine::heap_offset(ranks); }
  static std::uint64_t end_of(std::uint32_t ranks) {
    return data_of(ranks) + fixed_bytes + ranks * region_bytes;
  }

  // False if something is not where it belongs.
  bool play() {
    for (std::uint64_t k = 0; k < fixed_bytes; ++k)
      t_.segment()[begin_ + k] = fixed(t_.rank(), k);
    engine_.run(all_, {}, {});
    for (std::uint64_t left = draw_() % (draw_() % 4 == 0 ? 300 : 20); left != 0; --left)
      begin_one();
    if (meets_between_) engine_.run(all_, {}, {});
    bool right = true;
    while (!under_way_.empty())
      right &= complete_one();
    engine_.finish_transfers();
    for (const fetched& f : fetched_)
      right &= holds(f);
    engine_.run(all_, {}, {});
    return right;
  }
  // What others need of this rank's polls they have then.
  void leave_with_all(std::uint32_t& left) {
    ++left;
    while (left != ranks_) {
      engine_.progress();
      t_.relax();
    }
  }
  // After play() of all: what this rank has written there.
  const std::vector<std::byte>& written_on(std::uint32_t rank) const { return shadow_[rank]; }

private:
  struct fetched {
    std::vector<std::byte> data;
    std::uint32_t from;
    std::uint64_t at;
    std::uint64_t row = 0, apart_here = 0, apart_there = 0; // of several rows
    void set_rows(const one_sided_request& r) {
      row = r.bytes / r.rows, apart_here = r.apart_here, apart_there = r.apart_there;
      data.resize((r.rows - 1) * apart_here + row); // its memory stays
    }
  };

  std::uint32_t another() {
    const auto other = static_cast<std::uint32_t>(draw_() % (ranks_ - 1));
    return other < t_.rank() ? other : other + 1;
  }
  void begin_one() {
    constexpr std::uint64_t most[] = {8, 100, 4000, 150'000};
    const std::uint64_t bytes = 1 + draw_() % most[draw_() % 20 == 0 ? 3 : draw_() % 3];
    const std::uint32_t to = another(), from = another();
    const std::uint64_t at = begin_ + draw_() % (fixed_bytes - bytes);
    const auto what = static_cast<one_sided_kind>(draw_() % 4);
    std::uint64_t& filled = filled_[to];
    if (what == one_sided_kind::get || filled + bytes > region_bytes) {
      fetched& f = fetched_.emplace_back(std::vector<std::byte>(bytes), from, at - begin_);
      auto r = one_sided_request::get(f.data.data(), from, at, bytes);
      if (shape_into_rows(r)) f.set_rows(r);
      return post(r);
    }
    const std::uint64_t place = begin_ + fixed_bytes + t_.rank() * region_bytes + filled;
    std::byte* const expected = shadow_[to].data() + filled;
    filled += bytes;
    if (what == one_sided_kind::put) {
      std::vector<std::byte>& source = sources_.emplace_back(bytes);
      std::ranges::generate(source, [&] { return static_cast<std::byte>(draw_()); });
      auto r = one_sided_request::put(to, place, source.data(), bytes);
      if (!shape_into_rows(r)) {
        std::ranges::copy(source, expected);
      } else {
        for (std::uint64_t k = 0, row = r.bytes / r.rows; k != r.rows; ++k)
          std::copy_n(source.data() + k * r.apart_here, row, expected + k * r.apart_there);
      }
      post(r);
    } else if (what == one_sided_kind::set) {
      const auto value = static_cast<unsigned char>(draw_());
      std::fill_n(expected, bytes, static_cast<std::byte>(value));
      post(one_sided_request::set(to, place, value, bytes));
    } else {
      for (std::uint64_t k = 0; k < bytes; ++k)
        expected[k] = fixed(from, at - begin_ + k);
      post({.what = one_sided_kind::copy,
            .from_rank = from,
            .to_rank = to,
            .from = at,
            .to = place,
            .bytes = bytes});
    }
  }
  // Of the bytes that it has at either end, rows of a part of them, further apart than they are long.
  bool shape_into_rows(one_sided_request& r) {
    const std::uint64_t room = r.bytes, rows = 2 + draw_() % 40;
    if (draw_() % 2 == 0 || room < 2 * rows) return false;
    const std::uint64_t row = 1 + draw_() % (room / rows), most = (room - row) / (rows - 1);
    r.rows = rows;
    r.bytes = rows * row;
    r.apart_here = row + draw_() % (most - row + 1);
    r.apart_there = row + draw_() % (most - row + 1);
    return true;
  }
  void post(const one_sided_request& r) {
    const std::uint64_t h = engine_.post(r);
    if (draw_() % 8 != 0) under_way_.push_back(h); // else it is finish_transfers that waits for it
  }

  bool complete_one() {
    std::swap(under_way_[draw_() % under_way_.size()], under_way_.back());
    const std::uint64_t h = under_way_.back();
    if (draw_() % 2 == 0)
      engine_.wait(h);
    else if (engine_.test(h) != simulated_engine::status::complete)
      return true;
    under_way_.pop_back();
    return engine_.query(h) == simulated_engine::status::complete;
  }
  static bool holds(const fetched& f) {
    if (f.row == 0) return holds(f, 0, f.data.size(), 0);
    for (std::uint64_t at = 0, k = 0; at < f.data.size(); at += f.apart_here, ++k) {
      if (!holds(f, at, f.row, k * f.apart_there)) return false;
      const std::uint64_t behind = at + f.row,
                          next = std::min<std::uint64_t>(at + f.apart_here, f.data.size());
      for (std::uint64_t between = behind; between < next; ++between)
        if (f.data[between] != std::byte{0}) return false;
    }
    return true;
  }
  static bool holds(const fetched& f, std::uint64_t here, std::uint64_t bytes, std::uint64_t there) {
    for (std::uint64_t k = 0; k < bytes; ++k)
      if (f.data[here + k] != fixed(f.from, f.at + there + k)) return false;
    return true;
  }

  std::mt19937_64 draw_;
  simulated_transport& t_;
  simulated_engine engine_;
  progress::channel& all_;
  const std::uint32_t ranks_;
  const bool meets_between_; // all of them, or none
  const std::uint64_t begin_;
  std::vector<std::vector<std::byte>> shadow_; // by rank: what I have written there
  std::vector<std::uint64_t> filled_ = std::vector<std::uint64_t>(ranks_, 0);
  std::deque<fetched> fetched_;
  std::deque<std::vector<std::byte>> sources_;
  std::vector<std::uint64_t> under_way_;
};

bool goes_well(std::uint64_t seed, const transport::simulated_faults& machine = {}) {
  collective_case c;
  c.ranks = static_cast<std::uint32_t>(2 + seed % 3);
  for (std::uint32_t r = 0; r < c.ranks; ++r)
    c.nodes.push_back(r);
  transport::simulation_options options;
  options.seed = seed;
  options.ranks = c.ranks;
  options.host_of_rank = c.nodes;
  options.chaos = transport::simulated_chaos::rough();
  options.faults = machine;
  options.segment_bytes = copying_rank::end_of(c.ranks);
  simulation s(options);
  std::vector<copying_rank*> all(c.ranks);
  bool right = true;
  std::uint32_t left = 0;
  s.run([&](std::uint32_t rank, simulated_transport& t) {
    copying_rank r(seed, c, t);
    all[rank] = &r;
    right &= r.play();
    const std::byte* const regions = t.segment() + copying_rank::data_of(c.ranks) + fixed_bytes;
    for (std::uint32_t by = 0; by < c.ranks; ++by)
      right &=
          std::ranges::equal(all[by]->written_on(rank), std::span(regions + by * region_bytes, region_bytes));
    r.leave_with_all(left);
  });
  return right;
}

TEST(one_sided, what_is_complete_is_in_place) {
  const seed_range seeds(150);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed)
    ASSERT_TRUE(goes_well(seed)) << "seed " << seed;
}

TEST(one_sided, a_flush_that_does_not_wait_is_noticed) {
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    wrong += !goes_well(seed, {.early_flush = true});
  EXPECT_GT(wrong, 0u);
}

} // namespace
} // namespace weft::tests
