// SPDX-License-Identifier: BSD-3-Clause
#include "tests/graph/told_actions.hpp"

#include "engine/operations/all_kinds.hpp"
#include "engine/plan/builder.hpp"
#include "tests/graph/plan_words.hpp"
#include "verify/order.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace weft::graph {
using namespace checking;

namespace {

using number = std::uint32_t;

// Takes no part in what it is told: words and numbers, one behind the other.
class line_writer {
public:
  template <class... Part> void put(const Part&... parts) { (add(parts), ...); }
  std::string take() { return std::move(text_); }

private:
  void add(std::string_view word) { text_ += word; }
  void add(std::uint64_t value) {
    char digits[20];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  std::string text_;
};

// The order of one rank's actions.
class order_of_actions {
public:
  // So many at most.
  void clear(std::size_t actions) {
    width_ = actions / 64 + 1;
    known_.assign(width_, 0);
    known_[0] = 1;
    count_ = 0;
  }
  // The next one, which comes after these.
  number add(const std::vector<number>& after) {
    known_.resize(known_.size() + width_);
    std::uint64_t* const mine = row(++count_);
    for (const number k : after)
      join(mine, k);
    mine[count_ / 64] |= std::uint64_t{1} << count_ % 64;
    return count_;
  }
  // Only those that no other one of them comes after, in rising order.
  void reduce(std::vector<number>& after) {
    std::sort(after.rbegin(), after.rend());
    std::vector<std::uint64_t> covered(width_);
    std::erase_if(after, [&](number k) {
      if ((covered[k / 64] >> k % 64 & 1) != 0) return true;
      join(covered.data(), k);
      return false;
    });
    std::reverse(after.begin(), after.end());
  }

private:
  std::uint64_t* row(number k) { return known_.data() + k * width_; }
  void join(std::uint64_t* set, number k) {
    const std::uint64_t* const more = row(k);
    for (std::size_t w = 0; w < width_; ++w)
      set[w] |= more[w];
  }

  number count_ = 0;
  std::size_t width_ = 1;
  std::vector<std::uint64_t> known_; // by action: those that come before it, and itself
};

// The actions of all ranks, one rank after the other.
class telling : line_writer {
public:
  explicit telling(const event_graph& g)
      : graph_(g), before_(g, adjacency::end::to), last_(g.events.size(), 0) {}

  std::string all() {
    std::vector<std::vector<event_id>> of(graph_.members());
    for (event_id e = 0; e < graph_.events.size(); ++e) {
      const event& at = graph_.events[e];
      if (at.as == role::step || at.as == role::found) of[at.member].push_back(e);
    }
    for (number rank = 0; rank < graph_.members(); ++rank)
      tell(rank, of[rank]);
    return take();
  }

private:
  static constexpr std::size_t most_of_a_step = 3;

  void tell(number rank, const std::vector<event_id>& events) {
    plan_ = &graph_.plans[rank];
    place_ = &graph_.places[rank];
    order_.clear(events.size() * most_of_a_step);
    tell_plan();
    for (const event_id e : events) {
      find_before(e);
      graph_.events[e].as == role::found ? tell_found(e) : tell_step(graph_.events[e]);
      last_[e] = after_.front();
    }
    find_before(graph_.exits[rank]);
    put("  exit");
    put_after();
    put("\n");
  }

  // What holds for the plan as a whole.
  void tell_plan() {
    const plan& p = *plan_;
    put("rank ", p.me, ": ", word(p.pairs), ", root ", p.root, ", IN_", word(p.in), " OUT_", word(p.out),
        ", ", p.chunks, " pieces of ", p.chunk, ", whole up to ", p.whole_block, ", window ", p.window,
        ", credit ", p.credit, ", radix ", p.radix, ", payloads ", p.eager_bytes[0], " ", p.eager_bytes[1],
        ", room ", p.room());
    if (p.prompt) put(", prompt");
    if (p.together) put(", together");
    const indirection rows = p.indirect();
    if (rows || p.names != naming::none)
      put(", rows name ", word(p.names), ", sources ", word(rows.src), ", destinations ", word(rows.dst),
          ", sizes ", word(rows.size));
    const std::pair<bool, std::string_view> all[] = {
        {p.in_place, "in place"}, {p.eager, "eager"},   {p.valued, "valued"},    {p.far, "far"},
        {p.large, "large"},       {p.parts, "parts"},   {p.unequal, "unequal"},  {p.computes, "tasks"},
        {p.awaited, "wakes"},     {p.lends(), "lends"}, {p.rotates(), "rotates"}};
    for (const auto& [holds, what] : all)
      if (holds) put(", ", what);
    put("\n");
  }

  // Into after_: the actions right before an event.
  void find_before(event_id e) {
    after_.clear();
    collect(e);
    if (!graph_.events[e].any()) return order_.reduce(after_);
    std::sort(after_.begin(), after_.end());
  }
  // What only joins others is no action. What a word orders is told by the word: an action that is told later
  // raises it.
  void collect(event_id e) {
    for (const event_id from : before_.of(e)) {
      const event& at = graph_.events[from];
      const bool by_word = graph_.events[e].as == role::step && from > e && at.as == role::step;
      if (at.member != place_->me() || by_word) continue;
      if (at.as == role::join || at.as == role::assisted || at.as == role::rotated)
        collect(from);
      else if (at.as == role::post || at.as == role::step || at.as == role::found)
        after_.push_back(last_[from]);
    }
  }

  // The next action. What follows in the same step comes after it.
  template <class... Part> void next(const event& at, const Part&... parts) {
    const number k = order_.add(after_);
    put("  ", k);
    if (at.node != at.top) put(" [", at.iteration, "]");
    put_after();
    put(": ", parts...);
    after_.assign(1, k);
  }
  void put_after() {
    put(" after");
    for (const number k : after_)
      put(" ", k);
  }

  // The search for a root ends with the first of those before it.
  void tell_found(event_id e) {
    const std::vector<number> any = after_;
    after_.assign(1, *std::min_element(any.begin(), any.end()));
    event at = graph_.events[e];
    at.node = at.top;
    next(at, "found by the first of");
    for (const number k : any)
      put(" ", k);
    put("\n");
  }

  void tell_step(const event& at) {
    const node& n = plan_->nodes[at.node];
    switch (n.what) {
    case kind::copy:
    case kind::get:
    case kind::put:
      return tell_moves(at, n);
    case kind::take:
      tell_await(at, n);
      return n.valued ? void() : tell_moves(at, n);
    case kind::signal:
      if (n.read.in != buffer::none) tell_moves(at, n);
      return tell_raise(at, n);
    case kind::await:
      return tell_await(at, n);
    case kind::flush:
      return next(at, n.orders ? "order puts to " : "flush puts to ", at.peer, "\n");
    case kind::claim:
      return tell_claim(at, n);
    case kind::assist:
      return next(at, "carry what is unclaimed until all destinations are full\n");
    case kind::fetch:
      return next(at, "fetch the ", word(n.which), " of the block ", n.way == direction::in ? "from " : "to ",
                  at.peer, "\n");
    case kind::discover:
      return next(at, "look at the row of ", at.peer, "\n");
    case kind::save:
      return next(at, "take aside the piece from ", at.peer, "\n");
    case kind::restore:
      return next(at, "restore the piece from ", at.peer, "\n");
    case kind::rotate:
      return next(at, "rotate ", n.peer == peer_rule::group ? "all cycles\n" : "the own cycle\n");
    case kind::compare:
      return next(at, n.count == 0 ? "compare calls\n" : "compare calls for the last time\n");
    case kind::reduce:
      if (n.peer == peer_rule::group) return tell_combine(at);
      return n.read.in == buffer::none ? tell_await(at, n) : tell_moves(at, n);
    case kind::compute:
      return next(at, "compute stage ", n.count, n.quick ? " quickly" : "",
                  n.peer == peer_rule::group ? " of the host\n" : "\n");
    case kind::choose: // of plans that are decided
    case kind::loop:
      break;
    }
  }

  void tell_moves(const event& at, const node& n) {
    const graph::action a = resolve(*plan_, way_of(n), of_peer(at), at.iteration);
    if (plan_->parts && (n.what == kind::get || n.what == kind::put)) return tell_part(at, n);
    next(at, "move");
    const auto note = [&](const region& r) {
      const bool stays = a.from == a.to && n.read.in == n.write.in && r.read == r.write;
      if (!stays) put_region(a, n.read, n.write, r);
    };
    each_joined(*plan_, *place_, n, a, visitor<const region&>(note)); // as few as may be
    put("\n");
  }
  // The task says where it lies.
  void tell_part(const event& at, const node& n) {
    const bool gets = n.what == kind::get;
    next(at, gets ? "get" : "put", " the part of stage ", n.count, gets ? " from " : " to ", at.peer, ".");
    put(word(gets ? n.read.in : n.write.in), "\n");
  }

  void put_region(const graph::action& a, operand read, operand write, const region& r) {
    put_end(a.from, read, r.read);
    put(" >");
    put_end(a.to, write, r.write);
    plan_->indirect().size ? put(" (by row)") : put(" (", r.bytes, ")");
  }
  void put_end(number rank, operand of, std::uint64_t offset) {
    put(" ", rank, ".", word(of.in));
    plan_->places[of.at].pointer ? put(" by row") : put("+", offset);
  }

  void tell_raise(const event& at, const node& n) {
    const cell c = cell_of(*plan_, n, n.peer == peer_rule::self ? at.member : at.peer, at.iteration);
    if (is_counter(c.what))
      next(at, "count ", c.value, " ", word(c.what), " of ", c.owner);
    else if (n.peer == peer_rule::group)
      next(at, "tell the host ");
    else
      next(at, "tell ", at.peer, " ");
    if (!is_counter(c.what)) put_fact(c);
    put_details(n, c);
    if (n.relayed) put(", to be handed on");
    if (n.bundled) put(", bundled");
    put("\n");
  }

  void tell_await(const event& at, const node& n) {
    const cell c = cell_of(*plan_, n, n.peer == peer_rule::self ? at.member : at.peer, at.iteration);
    next(at, "await ");
    put_fact(c);
    put(" of ");
    c.owner == no_rank ? put("none") : put(c.owner);
    if (is_counter(c.what)) put(": ", c.value);
    if (is_counter(c.what) && !n.stepwise && n.count == 0) put(" and what rows tell");
    put_details(n, c);
    put("\n");
  }
  void put_fact(const cell& c) {
    put(word(c.what));
    if (is_stage(c.what)) put(" ", c.value);
  }
  void put_details(const node& n, const cell& c) {
    if (c.phase != 0) put(", phase ", c.phase);
    if (c.what == fact::call && n.count != 0) put(", names");
    if (n.valued) put(", with value");
  }

  // Its pieces are shared with others: this end takes them from the front or the back.
  void tell_claim(const event& at, const node& n) {
    const auto [from, to] = operations::claim::of(n.way, at.member, of_peer(at));
    next(at, to == at.member ? "share from the front" : "share from the back");
    put_block(from, to);
    if (n.way == direction::swap) put_block(to, from);
    put("\n");
  }
  void put_block(number from, number to) {
    const place &read = plan_->places[in_source], &write = plan_->places[in_destination];
    put_region({plan_->me, plan_->me, from, to, 0}, {buffer::source, in_source},
               {buffer::destination, in_destination},
               {read.offset(from, to), write.offset(from, to), plan_->block()});
  }

  void tell_combine(const event& at) {
    next(at, "share the combination of sources of");
    for (number k = 0; k < place_->locals(); ++k)
      put(" ", place_->local(k));
    put(" for");
    for (number k = 0; k < place_->locals(); ++k)
      if (plan_->sends(at.member, place_->local(k))) put(" ", place_->local(k));
    put(", ", plan_->block(), "\n");
  }

  number of_peer(const event& at) const { return at.peer == no_rank ? at.member : at.peer; }

  const event_graph& graph_;
  adjacency before_;
  std::vector<number> last_; // by event: its last action
  const plan* plan_ = nullptr;
  const topology* place_ = nullptr;
  order_of_actions order_;
  std::vector<number> after_; // of the action that is told next
};

} // namespace

std::string told_actions(std::span<const plan> plans, const std::vector<topology>& places,
                         const movement& moved) {
  report ignored; // plans of the checked mode are not verified
  std::string told;
  each_way(plans, [&](std::span<const plan> of_way) {
    told += telling(unfold(of_way, places, moved, ignored)).all();
  });
  return told;
}

} // namespace weft::graph
