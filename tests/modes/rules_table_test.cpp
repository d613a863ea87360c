// SPDX-License-Identifier: BSD-3-Clause
// The table "which threads a late one may hold up" of docs/semantics.md says what the rules say to which the
// adversary holds the library: no thread is held up that it does not name, and each that it names may be. A
// line that is changed on either side alone fails.
#include "tests/modes/rules.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace modes {
namespace {

enum class held { none, partners, all };

// One cell: "none; between nodes its partners; in place between nodes its cycle".
struct cell {
  held on_node = held::none, between_nodes = held::none;
  bool cycle_on_node = false, cycle_between_nodes = false; // in place
};

held read_held(const std::string& text) {
  if (text.find("none") != std::string::npos) return held::none;
  if (text.find("partners") != std::string::npos) return held::partners;
  EXPECT_NE(text.find("all"), std::string::npos) << "'" << text << "' names no threads";
  return held::all;
}

cell read_cell(const std::string& text) {
  std::istringstream parts(text);
  cell c;
  bool first = true;
  for (std::string part; std::getline(parts, part, ';'); first = false) {
    if (first)
      c.on_node = c.between_nodes = read_held(part);
    else if (part.find("in place between nodes its cycle") != std::string::npos)
      c.cycle_between_nodes = true;
    else if (part.find("in place its cycle") != std::string::npos)
      c.cycle_on_node = c.cycle_between_nodes = true;
    else if (part.find("between nodes") != std::string::npos)
      c.between_nodes = read_held(part);
    else
      ADD_FAILURE() << "'" << part << "' is not understood";
  }
  return c;
}

using pair = std::pair<in_mode, out_mode>;
struct line {
  cell rooted, all_pairs, permuted;
  const cell& of(pattern shape) const {
    if (shape == pattern::permuted) return permuted;
    return shape == pattern::all_pairs ? all_pairs : rooted;
  }
};

// "| NO | MY | cell | cell | cell |" behind the heading.
std::map<pair, line> read_table() {
  std::ifstream page(WEFT_SEMANTICS_PAGE);
  EXPECT_TRUE(page) << WEFT_SEMANTICS_PAGE;
  std::map<pair, line> table;
  const std::map<std::string, int> words{{" NO ", 0}, {" MY ", 1}, {" ALL ", 2}};
  bool here = false;
  for (std::string text; std::getline(page, text);) {
    if (text.rfind("### ", 0) == 0) here = text == "### Which threads a late one may hold up";
    if (!here || text.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(text.substr(1));
    for (std::string c; std::getline(row, c, '|');)
      cells.push_back(c);
    if (cells.size() != 5 || !words.contains(cells[0]) || !words.contains(cells[1])) continue;
    table[{in_mode{words.at(cells[0])}, out_mode{words.at(cells[1])}}] = {
        read_cell(cells[2]), read_cell(cells[3]), read_cell(cells[4])};
  }
  return table;
}

bool on_cycle(const situation& s, int rank) {
  for (int at = s.of().permuted(s.late); at != s.late; at = s.of().permuted(at))
    if (at == rank) return true;
  return false;
}

// Does the table say that this rank may be held up?
bool named(const cell& c, const situation& s, int rank, bool near) {
  const held whom = near ? c.on_node : c.between_nodes;
  const bool along_its_cycle = near ? c.cycle_on_node : c.cycle_between_nodes;
  if (along_its_cycle && s.what.in_place && on_cycle(s, rank)) return true;
  const bool partner = s.of().sends(s.late, rank) || s.of().sends(rank, s.late);
  return whom == held::all || (whom == held::partners && partner);
}

struct comparison {
  const cell& said;
  const situation& now;
  bool confirmed = false; // a rank that the table names may be held up

  void compare(int rank, bool near) {
    const bool free = judge(now, rank, [near](int) { return near; }) == verdict::free;
    const bool may = named(said, now, rank, near);
    EXPECT_TRUE(free || may) << now.what.name << ": rank " << rank << " may be held up by " << now.late
                             << ", root " << now.root << ", and the table does not say so";
    confirmed |= may && !free;
  }
};

TEST(threads_that_a_late_one_may_hold_up, the_table_says_what_the_rules_say) {
  const auto table = read_table();
  ASSERT_EQ(table.size(), 9u);
  for (const auto& [modes, said] : table)
    for (const function& f : functions()) {
      if (!f.has_modes()) continue;
      const cell& c = said.of(f.shape());
      for (const bool near : {true, false}) {
        bool confirmed = false;
        for (int late = 0; late < 5; ++late)
          for (int root = 0; root < 5; ++root)
            for (int turn = 0; turn < 3; ++turn)
              for (const bool small : {false, true})
                for (const int rank : {0, 1, 2, 3, 4}) {
                  if (rank == late) continue;
                  const situation s{f, modes.first, modes.second, 0, 5, root, late, small, false, turn};
                  comparison compared{c, s};
                  compared.compare(rank, near);
                  confirmed |= compared.confirmed;
                }
        const bool along_a_cycle = (near ? c.cycle_on_node : c.cycle_between_nodes) && f.in_place;
        const bool names_a_rank = (near ? c.on_node : c.between_nodes) != held::none || along_a_cycle;
        EXPECT_EQ(confirmed, names_a_rank)
            << f.name << ": IN " << int(modes.first) << ", OUT " << int(modes.second)
            << (near ? ", on one node" : ", between nodes") << ": the table names a rank that never waits";
      }
    }
}

} // namespace
} // namespace modes
