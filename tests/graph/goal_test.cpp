// SPDX-License-Identifier: BSD-3-Clause
// Plans as schedules in the format GOAL: read by a parser of its grammar, played, and compared with what the
// plans themselves say they send.
#include "tests/graph/operations.hpp"
#include "verify/goal.hpp"
#include "verify/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace weft::graph {
namespace {

struct goal_step {
  std::string what;
  std::uint64_t amount = 0;
  std::uint32_t peer = 0, tag = 0, cpu = 0;
  std::vector<std::string> after;
};
using goal_rank = std::map<std::string, goal_step>;

// A text of GOAL, line by line, as LogGOPSim's txt2bin reads it: labels, which are defined before they are
// used; calc N [cpu N]; send Nb to N [tag N] [cpu N]; recv Nb from N [tag N] [cpu N]; L requires L.
class parser {
public:
  explicit parser(const std::string& text) : in_(text) {}

  std::vector<goal_rank> ranks() {
    for (std::string text; std::getline(in_, text); ++line_) {
      words_.clear();
      std::istringstream words(text);
      for (std::string word; words >> word;)
        words_.push_back(word);
      next_ = 0;
      if (!words_.empty() && !words_.front().starts_with("//")) read_line();
    }
    must(now_ == nullptr, "a rank is not closed");
    must(read_.size() == ranks_.size(), "ranks are missing");
    return ranks_;
  }

private:
  void must(bool so, const std::string& else_what) const {
    if (!so) throw std::runtime_error("line " + std::to_string(line_) + ": " + else_what);
  }
  std::string word() {
    must(next_ < words_.size(), "the line ends early");
    return words_[next_++];
  }
  bool is(std::string_view wanted) {
    const bool so = next_ < words_.size() && words_[next_] == wanted;
    if (so) ++next_;
    return so;
  }
  std::uint64_t number(const std::string& text) const {
    must(!text.empty() && text.find_first_not_of("0123456789") == std::string::npos, text + " is no number");
    return std::stoull(text);
  }
  std::uint64_t bytes() {
    const std::string text = word();
    must(text.ends_with('b'), text + " are no bytes");
    return number(text.substr(0, text.size() - 1));
  }

  void read_line() {
    if (is("num_ranks")) {
      must(ranks_.empty() && now_ == nullptr, "num_ranks again");
      ranks_.resize(number(word()));
    } else if (is("rank")) {
      const std::uint64_t rank = number(word());
      must(now_ == nullptr && rank < ranks_.size() && read_.emplace(rank, true).second,
           "no place for a rank");
      must(is("{"), "{ is missing");
      now_ = &ranks_[rank];
    } else if (is("}")) {
      must(now_ != nullptr, "} without a rank");
      now_ = nullptr;
    } else {
      must(now_ != nullptr, "outside of a rank");
      read_step(word());
    }
    must(next_ == words_.size(), "too much on the line");
  }

  void read_step(std::string label) {
    if (is("requires")) {
      const std::string before = word();
      must(now_->contains(label) && now_->contains(before), "a label that is not defined");
      now_->at(label).after.push_back(before);
      return;
    }
    must(label.size() > 1 && label.ends_with(':') && std::isalpha(label[0]) != 0, "no label");
    label.pop_back();
    goal_step s;
    s.what = word();
    if (s.what == "calc") {
      s.amount = number(word());
    } else {
      must(s.what == "send" || s.what == "recv", s.what + " is nothing that a rank does");
      s.amount = bytes();
      must(is(s.what == "send" ? "to" : "from"), "no peer");
      s.peer = static_cast<std::uint32_t>(number(word()));
      must(s.peer < ranks_.size(), "no such peer");
      if (is("tag")) s.tag = static_cast<std::uint32_t>(number(word()));
    }
    if (is("cpu")) s.cpu = static_cast<std::uint32_t>(number(word()));
    must(now_->emplace(label, s).second, "a label for the second time");
  }

  std::istringstream in_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
  unsigned line_ = 1;
  std::vector<goal_rank> ranks_;
  std::map<std::uint64_t, bool> read_;
  goal_rank* now_ = nullptr;
};

using end_of_message = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>; // from, to, tag

// Every send has one receive of as many bytes, and none is left over.
std::string unpaired(const std::vector<goal_rank>& ranks) {
  std::map<end_of_message, std::vector<std::uint64_t>> sent, received;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [label, s] : ranks[rank]) {
      if (s.what == "send") sent[{rank, s.peer, s.tag}].push_back(s.amount);
      if (s.what == "recv") received[{s.peer, rank, s.tag}].push_back(s.amount);
    }
  }
  for (const auto& [ends, all] : sent)
    if (all.size() != 1) return "several messages of one tag";
  return sent == received ? "" : "messages and receives differ";
}

// Which ranks do not come to their ends.
std::vector<std::uint32_t> hanging(std::vector<goal_rank> ranks) {
  std::map<end_of_message, bool> sent;
  std::vector<std::map<std::string, bool>> over(ranks.size());
  for (bool more = true; more;) {
    more = false;
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
      for (auto it = ranks[rank].begin(); it != ranks[rank].end();) {
        const goal_step& s = it->second;
        const bool waits =
            std::ranges::any_of(s.after, [&](const auto& l) { return !over[rank].contains(l); });
        if (waits || (s.what == "recv" && !sent.contains({s.peer, rank, s.tag}))) {
          ++it;
          continue;
        }
        if (s.what == "send") sent[{rank, s.peer, s.tag}] = true;
        over[rank][it->first] = more = true;
        it = ranks[rank].erase(it);
      }
    }
  }
  std::vector<std::uint32_t> left;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
    if (!ranks[rank].empty()) left.push_back(rank);
  return left;
}

// What leaves the hosts: messages that ranks begin, and the bytes of all.
traffic between_hosts(const std::vector<goal_rank>& ranks, const node_map& nodes) {
  traffic sum;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
    for (const auto& [label, s] : ranks[rank])
      if (s.what == "send" && nodes[rank] != nodes[s.peer]) sum += {s.cpu == 0 ? 1u : 0u, s.amount};
  return sum;
}

bool hands_on(const plan& p) {
  for (unsigned n = 0; n < p.size; ++n)
    if (p.nodes[n].relayed) return true;
  return false;
}

std::string written(const std::vector<plan>& plans, const node_map& nodes, const movement& moved) {
  std::ostringstream to;
  const verdict v = write_goal(to, plans, nodes, moved, {});
  EXPECT_TRUE(v.ok()) << v.text();
  return to.str();
}

void expect_schedule(const collectives::request& r, const movement& moved, const node_map& nodes) {
  const std::vector<plan> plans = compile_all(r, nodes);
  const std::vector<goal_rank> ranks = parser(written(plans, nodes, moved)).ranks();
  ASSERT_EQ(ranks.size(), plans.size());
  EXPECT_EQ(unpaired(ranks), "");
  EXPECT_EQ(hanging(ranks), std::vector<std::uint32_t>{});
  traffic sum;
  for (std::uint32_t rank = 0; rank < plans.size(); ++rank)
    sum += traffic_of(plans[rank], topology(rank, nodes));
  const traffic sent = between_hosts(ranks, nodes);
  if (plans.front().by_rows || plans.front().names != naming::none) return; // whose peers no plan knows
  if (std::ranges::any_of(plans, hands_on)) {
    EXPECT_GE(sent.messages, sum.messages);
    return;
  }
  EXPECT_EQ(sent.messages, sum.messages);
  EXPECT_EQ(sent.bytes, sum.bytes);
}

class goal : public testing::TestWithParam<std::uint32_t> {};

TEST_P(goal, has_a_receive_for_each_send_and_comes_to_its_end) {
  const std::uint32_t members = GetParam();
  for (const node_map& nodes :
       {one_host(members), alone(members), blocks_of(members, 2), dealt(members, 2)}) {
    for_each_case(members, [&](const collectives::request& r, const movement& moved) {
      if (HasFailure()) return;
      SCOPED_TRACE(text(r, nodes));
      expect_schedule(r, moved, nodes);
    });
  }
}
INSTANTIATE_TEST_SUITE_P(members, goal, testing::Values(1, 2, 5), testing::PrintToStringParamName());

TEST(goals, of_each_algorithm_send_what_the_plan_says) {
  for (const collectives::algorithm& a : collectives::algorithms()) {
    for (const node_map& nodes : {blocks_of(12, 3), alone(6)}) {
      const collectives::tuning t = forcing(a.op, a.name);
      collectives::request r{.op = a.op, .bytes = 64};
      if (collectives::of_vectors(a.op)) r.in = r.out = sync::my;
      if (a.name == "relayed") r.in = sync::my;
      if (!a.fits(r, topology(0, nodes), t)) continue;
      SCOPED_TRACE(std::string(a.name) + " " + text(r, nodes));
      const std::vector<plan> plans = compile_all(r, nodes, t);
      const auto ranks = parser(written(plans, nodes, specified(r))).ranks();
      EXPECT_EQ(unpaired(ranks), "");
      EXPECT_EQ(hanging(ranks), std::vector<std::uint32_t>{});
      const traffic sent = between_hosts(ranks, nodes);
      if (std::ranges::any_of(plans, hands_on)) {
        EXPECT_EQ(sent.bytes, r.bytes * (nodes.size() - topology(0, nodes).locals()))
            << "each is sent it once";
        continue;
      }
      traffic sum;
      for (std::uint32_t rank = 0; rank < plans.size(); ++rank)
        sum += traffic_of(plans[rank], topology(rank, nodes));
      EXPECT_EQ(sent.messages, sum.messages);
      EXPECT_EQ(sent.bytes, sum.bytes);
    }
  }
}

// What is written of the smallest barrier between hosts, word by word.
TEST(goals, are_what_loggopsim_reads) {
  const collectives::request r;
  EXPECT_EQ(written(compile_all(r, alone(2)), alone(2), specified(r)), "num_ranks 2\n"
                                                                       "\nrank 0 {\n"
                                                                       "l1: send 0b to 1 tag 0\n"
                                                                       "l2: recv 0b from 1 tag 0\n"
                                                                       "}\n"
                                                                       "\nrank 1 {\n"
                                                                       "l1: recv 0b from 0 tag 0\n"
                                                                       "l2: send 0b to 0 tag 0\n"
                                                                       "}\n");
}

TEST(goals, are_refused_where_the_grammar_is_another) {
  const std::string right =
      "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 0\n}\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n";
  EXPECT_EQ(unpaired(parser(right).ranks()), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const auto& [from, to] : {std::pair("8b to", "8 to"),
                                 {"to 1", "from 1"},
                                 {"to 1", "to 2"},
                                 {"rank 1", "rank 0"},
                                 {"l1:", "l1"},
                                 {"tag 0\n", "tag 0 l1\n"},
                                 {"l1: recv", "l1 requires l2\nl1: recv"}})
    EXPECT_THROW(parser(with(from, to)).ranks(), std::runtime_error) << from << " " << to;
  EXPECT_NE(unpaired(parser(with("8b from", "9b from")).ranks()), "");
  EXPECT_EQ(hanging(parser(with("0 tag 0", "0 tag 1")).ranks()), std::vector<std::uint32_t>{1});
}

} // namespace
} // namespace weft::graph
