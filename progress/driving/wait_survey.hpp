// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/all_kinds.hpp"
#include "progress/execution/call_record.hpp"
#include "progress/execution/executor.hpp"

#include <string>
#include <vector>

namespace weft::progress {

// What an operation that is not finished waits for, in words and ranks of the job.
struct blocked_operation {
  std::uint32_t team = 0;
  weft::engine::sequence seq = 0;
  std::string call;
  std::vector<std::string> nodes;     // of its plan, that could go on if something were known
  std::vector<std::uint32_t> missing; // members that have not entered it, as far as this rank knows
};
// How many operations of a team this rank has entered.
struct team_position {
  std::uint32_t team = 0;
  weft::engine::sequence entered = 0;
};

// Looks at what an executor has under way. Under progress ownership; changes nothing.
template <transport::transport T> class wait_survey {
public:
  explicit wait_survey(executor<T>& e) : e_(e) {}

  // The oldest of each team, oldest first.
  std::vector<blocked_operation> oldest() {
    std::vector<blocked_operation> found;
    for (operation* op : e_.active_) {
      const std::uint32_t team = op->channel->info.id;
      if (std::none_of(found.begin(), found.end(), [team](const auto& b) { return b.team == team; }))
        found.push_back(describe(*op));
    }
    return found;
  }

  std::vector<team_position> positions() {
    std::vector<team_position> all;
    for (const auto& [id, team] : e_.channels_)
      all.push_back({id, e_.net_.load(team->own.entered())});
    return all;
  }

  // Checked mode: the last call on a team, if it says where it stands in the program.
  std::uint32_t place_of_last(std::uint32_t id) {
    const auto team = e_.channels_.find(id);
    if (team == e_.channels_.end()) return 0;
    const weft::engine::mailbox& own = team->second->own;
    auto& line = own.call(weft::engine::slot_of(e_.net_.load(own.entered())));
    if (e_.net_.load(line.stamp) != e_.net_.load(own.entered())) return 0;
    return call_record::place_of(e_.net_.load(line.record[call_record::words - 1]));
  }

private:
  static constexpr std::size_t most_ranks = 8; // of a step, that are named

  blocked_operation describe(operation& op) {
    const call_record call(static_cast<posted&>(op).key, op.at);
    blocked_operation b{op.channel->info.id, op.seq, progress::text_of(call), {}, {}};
    if (op.run != nullptr) waits_of(op, b.nodes);
    channel& team = *op.channel;
    for (std::uint32_t member = 0; member < team.info.size(); ++member)
      if (member != team.info.me() && team.mailboxes[member] &&
          e_.net_.load(team.mailboxes[member].entered()) < op.seq)
        b.missing.push_back(team.info.world[member]);
    return b;
  }

  void waits_of(operation& op, std::vector<std::string>& texts) {
    const graph::plan& p = *op.program;
    for (std::uint8_t k = 0; k < p.size; ++k) {
      const graph::node& n = p.nodes[k];
      const graph::node_set bit = graph::node_set{1} << k;
      if ((p.top & ~op.run->done & bit) == 0 || (n.after & ~op.run->done) != 0) continue;
      if (n.what == graph::kind::compare) continue;
      if (n.what == graph::kind::loop)
        waits_of_loop(op, n, texts);
      else
        texts.push_back(text_of(n, op));
    }
  }

  // The step that its oldest iteration stands at, and its peer.
  void waits_of_loop(operation& op, const graph::node& n, std::vector<std::string>& texts) {
    const loop_state& loop = op.run->loops[n.loop_index];
    const bool by_rows = n.over->by_rows;
    const graph::node* first = nullptr;
    std::string ranks;
    std::size_t named = 0, all = 0;
    const std::uint32_t end = n.single ? 1 : loop.next;
    for (std::uint32_t i = n.single ? 0 : loop.base; i < end; ++i) {
      if (!n.single && (loop.unfinished >> (i - loop.base) & 1) == 0) continue;
      const std::uint8_t step = n.single ? 0 : loop.step[i % loop_state::window];
      if (step >= n.body_size) continue;
      const graph::node& body = op.program->nodes[n.body + step];
      if (first == nullptr) first = &body;
      ++all;
      if (by_rows || &body != first || named == most_ranks) continue;
      const std::uint32_t peer = e_.runner_.peer_of(op, n, body, i);
      if (peer >= op.channel->info.size()) continue;
      ranks += (named++ == 0 ? " of thread " : ", ") + std::to_string(op.channel->info.world[peer]);
    }
    if (first == nullptr) return;
    const std::string more = all > named && named != 0 ? " and " + std::to_string(all - named) + " more" : "";
    texts.push_back(text_of(*first, op) + ranks + more);
  }

  std::string text_of(const graph::node& n, const operation& op) {
    std::string text = graph::describe(n);
    const std::uint32_t cells = weft::engine::cells_of(op.seq, n.phase);
    if (n.what == graph::kind::await && n.about == graph::fact::delivered)
      text += here(op.channel->own.counts(cells).delivered, op);
    if (n.what == graph::kind::await && n.about == graph::fact::consumed)
      text += here(op.channel->own.counts(cells).consumed, op);
    return text;
  }
  std::string here(weft::engine::word& counter, const operation& op) {
    const std::uint64_t value = e_.net_.load(counter), none = weft::engine::counter::make(op.seq, 0);
    return " (" + std::to_string(value > none ? value - none : 0) + " so far)";
  }

  executor<T>& e_;
};

} // namespace weft::progress
