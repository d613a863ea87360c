// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/call_record.hpp"
#include "progress/execution/operation_pool.hpp"
#include "progress/execution/reach.hpp"

#include <array>
#include <cstring>
#include <memory>

namespace weft::progress {

// Checked mode: the steps of the nodes that engine/collectives/compile.cpp adds to a plan.
//
// Each member writes which call operation n is into line n mod S of its mailbox; near members read it there,
// far ones are sent it. Every member compares with every other one whose record it sees while the operation
// is active here. A line is written again S operations later: a member that is so far ahead is compared by
// the operations that follow. If two calls differ, a member that sees it says so in its mailbox, and tells
// far members: then this operation of the team, and every later one, fails on every member. So no rank waits
// for a call that never comes, whichever rank has seen the difference.
//
// Where rows in shared memory name the other end of a block, each member writes its line again, with which
// rank its row names, as soon as its mode lets the row be read; far members are sent it again. Two names that
// do not fit together are two calls that differ. A rank that leaves looks once more behind its own line: a
// member that names the same one either sees that line, or wrote its own before.
//
// Lines are read while they may be written: the stamp is 0 meanwhile, and looked at before and behind.
template <transport::transport T> class call_check {
public:
  explicit call_check(reach<T>& members) : reach_(members) {}

  // Want of memory ends the job in one line, here and below: the others wait for my record, and nothing may
  // be thrown under progress ownership.
  [[gnu::noinline]] outcome publish(operation& op) noexcept {
    channel& on = *op.channel;
    const std::uint32_t members = on.info.size();
    execution& run = *op.run;
    engine::must_have_memory(wanted_for, [&] {
      run.compared.assign(members, false);
      if (!by_names(op)) return;
      run.heard.assign(members, false);
      run.first.assign(members, {});
    });
    run.to_compare = members - 1;
    run.to_hear = members;
    write(op, record_of(op));
    return outcome::done;
  }

  // Whom my row names, behind what was published.
  [[gnu::noinline]] outcome publish_name(operation& op, std::uint32_t named) noexcept {
    call_record mine = record_of(op);
    mine.name(named);
    write(op, mine);
    hear(op, op.program->me, mine);
    return outcome::done;
  }

  // As a far member is sent it: stays until the operation is retired.
  static std::span<const std::byte> published(const operation& op) {
    const auto& record = op.channel->own.call(engine::slot_of(op.seq)).record;
    return {reinterpret_cast<const std::byte*>(record.data()), sizeof(call_record)};
  }

  // The first of the two nodes looks at the others in every pass, the last one ends both. (Not inlined, as
  // all that is rare: what a step keeps for it would make every step slower.)
  [[gnu::noinline]] outcome compare(operation& op, const graph::node& n) noexcept {
    const bool last = n.count != 0;
    const graph::node_set watch = graph::node_set{1} << n.count;
    const graph::node_set end = graph::node_set{1} << (op.program->size - 1u);
    const bool over = last && (op.program->top & ~op.run->done) == (watch | end);
    if (over && by_names(op)) reach_.net.fence(); // of two that leave, one sees what the other has written
    if (!last || (over && by_names(op))) look_at_all(op);
    if (disputed(*op.channel, op.seq)) [[unlikely]] {
      op.status = status_disputed;
      return outcome::failed;
    }
    if (!over) return outcome::blocked;
    op.run->finish(*op.program, static_cast<std::uint8_t>(n.count));
    return outcome::done;
  }

  bool admits(const operation& op) const { return op.run->to_compare == 0 && !disputed(*op.channel, op.seq); }

  bool admits_names(const operation& op) const { return op.run->to_hear == 0 && admits(op); }

  // A far member's record of operation n has come, perhaps when mine was over: its mode may let me leave
  // first.
  void look_back(channel& on, engine::sequence n, std::uint32_t member) noexcept {
    auto& own = on.own.call(engine::slot_of(n));
    auto& line = reach_.view(on, member).call(engine::slot_of(n));
    call_record mine, other;
    if (reach_.net.load(own.stamp) != n || !read(own, n, mine) || !read(line, n, other)) return;
    if (!mine.same_call(other) || !mine.goes_with(other)) differ(on, n, on.info.me(), mine, member, other);
  }

  // A stamp and its words, by their only writer.
  template <class Lines>
  static void write(T& net, Lines& to, std::uint64_t stamp, std::span<const std::byte> bytes) {
    decltype(values_of(to)) values{};
    std::memcpy(values.data(), bytes.data(), std::min(bytes.size(), sizeof values));
    net.store(to.stamp, 0);
    for (std::size_t k = 0; k * sizeof(std::uint64_t) < bytes.size() && k < values.size(); ++k)
      net.store(to.record[k], values[k]);
    net.store(to.stamp, stamp);
  }

private:
  static_assert(call_record::no_rank == named_block::no_rank);
  static constexpr const char* wanted_for = "the comparison of calls (WEFT_CHECK=1)";

  template <class Lines>
  static auto values_of(const Lines& lines)
      -> std::array<std::uint64_t, std::tuple_size_v<decltype(lines.record)>>;

  void write(operation& op, const call_record& mine) noexcept {
    auto& line = op.channel->own.call(engine::slot_of(op.seq));
    reach_.net.store(line.stamp, 0);
    for (std::size_t k = 0; k < call_record::words; ++k)
      reach_.net.store(line.record[k], mine.word(k));
    reach_.net.store(line.stamp, op.seq);
    reach_.wake_near();
  }

  static call_record record_of(const operation& op) { return {static_cast<const posted&>(op).key, op.at}; }

  // False if it was written meanwhile.
  template <class Lines, class Value> bool read(Lines& from, std::uint64_t stamp, Value& value) {
    decltype(values_of(from)) values{};
    for (std::size_t k = 0; k * sizeof(std::uint64_t) < sizeof value; ++k)
      values[k] = reach_.net.load(from.record[k]);
    std::memcpy(static_cast<void*>(&value), values.data(), sizeof value);
    return reach_.net.load(from.stamp) == stamp;
  }

  // The earliest counts: operations in front of it agree, and come to their end on all members.
  static bool disputed(const channel& on, engine::sequence n) { return on.dispute && on.dispute->seq <= n; }

  // With each rank that has come so far.
  void look_at_all(operation& op) {
    channel& on = *op.channel;
    const std::uint32_t me = on.info.me();
    for (std::uint32_t member = 0; member < on.info.size() && !disputed(on, op.seq); ++member) {
      if (member == me) continue;
      const engine::mailbox theirs = reach_.view(on, member);
      if (!op.run->compared[member] || (by_names(op) && !op.run->heard[member])) look_at(op, theirs, member);
      take_over(on, theirs);
    }
  }

  void look_at(operation& op, const engine::mailbox& theirs, std::uint32_t member) {
    auto& line = theirs.call(engine::slot_of(op.seq));
    const std::uint64_t stamp = reach_.net.load(line.stamp);
    if (stamp < op.seq) return;
    if (!by_names(op) && says_the_same(line, stamp, op)) [[likely]] {
      op.run->compared[member] = true;
      --op.run->to_compare;
      return;
    }
    call_record other;
    if (stamp == op.seq && !read(line, stamp, other)) return;
    if (!op.run->compared[member]) {
      op.run->compared[member] = true;
      --op.run->to_compare;
      if (stamp == op.seq && !other.same_call(record_of(op))) [[unlikely]]
        return differ(*op.channel, op.seq, op.program->me, record_of(op), member, other);
    }
    if (!by_names(op) || op.run->heard[member]) return;
    if (stamp != op.seq) other.name(call_record::no_rank); // too late to know
    if (other.named() != call_record::not_said) hear(op, member, other, stamp == op.seq);
  }

  // As my own line, and was not written meanwhile.
  bool says_the_same(const engine::mailbox::call_lines& line, std::uint64_t stamp, const operation& op) {
    auto& own = op.channel->own.call(engine::slot_of(op.seq));
    std::uint64_t differ = stamp ^ op.seq;
    for (std::size_t k = 0; k < call_record::words; ++k)
      if (call_record::common(k)) differ |= reach_.net.load(line.record[k]) ^ reach_.net.load(own.record[k]);
    return differ == 0 && reach_.net.load(line.stamp) == stamp;
  }

  static bool by_names(const operation& op) { return op.program->names != graph::naming::none; }

  // Which rank a member names, against those that have said so before.
  void hear(operation& op, std::uint32_t member, const call_record& said, bool known = true) {
    execution& run = *op.run;
    run.heard[member] = true;
    --run.to_hear;
    if (said.named() >= run.first.size()) { // no rank
      if (known && said.permutes()) differ(*op.channel, op.seq, member, said, member, said);
      return;
    }
    auto& first = run.first[said.permutes() ? said.named() : 0];
    if (first.by == call_record::no_rank) first = {member, said.named()};
    call_record before = said;
    before.name(first.named);
    if (first.by != member && !before.goes_with(said))
      differ(*op.channel, op.seq, first.by, before, member, said);
  }

  // The records of members a and b.
  [[gnu::cold, gnu::noinline]] void differ(channel& on, engine::sequence n, std::uint32_t a,
                                           const call_record& of_a, std::uint32_t b,
                                           const call_record& of_b) {
    if (disputed(on, n)) return;
    if (on.info.world[b] < on.info.world[a]) return differ(on, n, b, of_b, a, of_a);
    call_dispute d{n, on.info.id, 0, on.info.world[a], on.info.world[b], of_a, of_b};
    for (call_record* record : {&d.call, &d.other_call})
      if (record->named() < on.info.size()) record->name(on.info.world[record->named()]);
    keep(on, d);
    auto& lines = on.own.dispute();
    write(reach_.net, lines, n, std::as_bytes(std::span(&d, 1)));
    reach_.wake_near();
    for (const std::uint32_t far : on.info.topology.far())
      reach_.answer(on, far, {.kind = transport::message_kind::dispute, .seq = n},
                    {reinterpret_cast<const std::byte*>(lines.record.data()), sizeof d});
  }

  void take_over(channel& on, const engine::mailbox& theirs) {
    auto& lines = theirs.dispute();
    const std::uint64_t stamp = reach_.net.load(lines.stamp);
    if (stamp == 0 || disputed(on, stamp)) [[likely]]
      return;
    call_dispute d;
    if (read(lines, stamp, d)) keep(on, d);
  }

  [[gnu::cold, gnu::noinline]] static void keep(channel& on, const call_dispute& d) {
    engine::must_have_memory(wanted_for, [&] { on.dispute = std::make_unique<call_dispute>(d); });
  }

  reach<T>& reach_;
};

} // namespace weft::progress
