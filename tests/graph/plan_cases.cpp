// SPDX-License-Identifier: BSD-3-Clause
#include "tests/graph/plan_cases.hpp"

#include "engine/collectives/tuning.hpp"
#include "tests/graph/plan_words.hpp"
#include "tests/graph/told_actions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

namespace weft::graph {
using namespace collectives;

namespace {

node_map in_halves(std::uint32_t members) {
  return blocks_of(members, (members + 1) / 2);
}
node_map in_pairs(std::uint32_t members) {
  return blocks_of(members, 2);
}
node_map dealt_to_two(std::uint32_t members) {
  return dealt(members, 2);
}
// One of the members, two of them and the rest, or in proportion.
node_map on_uneven_hosts(std::uint32_t members) {
  const std::uint32_t first = std::max(1u, members / 6), second = first + std::max(1u, members / 3);
  node_map nodes(members);
  for (std::uint32_t r = 0; r < members; ++r)
    nodes[r] = r < first ? 0 : r < second ? 1 : 2;
  return nodes;
}

constexpr std::array<host_shape, host_shapes> shapes{{{"one", one_host},
                                                      {"alone", alone},
                                                      {"halves", in_halves},
                                                      {"dealt", dealt_to_two},
                                                      {"uneven", on_uneven_hosts},
                                                      {"pairs", in_pairs}}};

constexpr std::uint32_t most_members = 16;
constexpr std::uint32_t sampled_members[] = {1, 2, 4, 6, 7};

bool is_sampled(std::uint32_t members) {
  return std::ranges::find(sampled_members, members) != std::end(sampled_members);
}

// What may change plans besides their requests: how data go to other hosts, the checked mode, and a window of
// two transfers.
constexpr std::string_view all_settings[] = {"", "sockets", "checked", "narrow"};

tuning tuned(std::string_view setting, const algorithm* by) {
  engine::settings s;
  s.path = setting == "sockets" ? "sockets" : "memory";
  s.check = setting == "checked";
  tuning t = tuning_of(s);
  if (setting == "narrow") t.window = 2;
  if (by != nullptr) t.forced = forcing(by->op, by->name).forced;
  if (by != nullptr && by->name == "relayed") t.costs.gap *= 100; // a deep tree, though hosts are few
  return t;
}

// In which forms there are plans of their own.
std::vector<request> forms_of(operation op) {
  std::vector<request> forms{{.op = op}};
  if (has_in_place(op)) forms.push_back({.op = op, .in_place = true});
  if (op == operation::permute_x) {
    forms.push_back({.op = op, .wide_perm = true});
    forms.push_back({.op = op, .in_place = true, .wide_perm = true});
  }
  if (computes(op) && !of_vectors(op)) {
    forms.push_back({.op = op, .large = true});
    forms.push_back({.op = op, .by_ranges = true});
  }
  if (op == operation::reduce) forms.push_back({.op = op, .by_ranges = true, .whole = true});
  if (op == operation::sort) forms.push_back({.op = op, .whole = true});
  return forms;
}

// The operation that has the algorithms: few elements are sorted by those of a reduction for all.
operation by_algorithms_of(const request& r) {
  return r.op == operation::sort && r.whole ? operation::reduce_all : r.op;
}
request as_they_see(request r) {
  r.op = by_algorithms_of(r);
  return r;
}

std::vector<request> in_all_modes(const request& form) {
  std::vector<request> all;
  for (const sync in : {sync::no, sync::my, sync::all})
    for (const sync out : {sync::no, sync::my, sync::all})
      for (const hint direction : {hint::none, hint::push, hint::pull}) {
        request r = form;
        r.in = in, r.out = out, r.direction = direction;
        const bool only_my = of_vectors(r.op) && (in != sync::my || out != sync::my);
        const bool only_all = r.op == operation::barrier && (in != sync::all || out != sync::all);
        if (only_my || only_all) continue;
        if (direction != hint::none && (r.op == operation::barrier || ignores_hints(r))) continue;
        all.push_back(r);
      }
  return all;
}

std::vector<std::uint64_t> sizes_of(const request& r) {
  constexpr std::uint64_t eager = most_partials, cut = 65536, large = (4 << 20) + 8;
  if (r.op == operation::barrier || sized_by_rows(r.op)) return {0};
  if (computes(r.op) && !of_vectors(r.op)) return {0, 8, eager};
  return {0, 8, eager, eager + 8, cut, large};
}

std::set<std::uint32_t> roots_of(const request& r, std::uint32_t members) {
  if (!rooted(r.op)) return {0};
  return {0, members / 2, members - 1};
}

// The topologies of all members, by shape and number of members; empty where another shape is the same.
class all_places {
public:
  all_places() {
    for (std::uint32_t members = 1; members <= most_members; ++members) {
      std::set<node_map> seen;
      for (std::size_t k = 0; k < host_shapes; ++k) {
        const node_map nodes = shapes[k].of(members);
        if (!seen.insert(nodes).second) continue;
        for (std::uint32_t me = 0; me < members; ++me)
          places_[k][members].emplace_back(me, nodes);
      }
    }
  }
  const std::vector<topology>& of(std::size_t shape, std::uint32_t members) const {
    return places_[shape][members];
  }

private:
  std::array<std::array<std::vector<topology>, most_members + 1>, host_shapes> places_;
};

std::string told_choice(const request& r, const topology& g, const tuning& t) {
  const algorithm* const chosen = choose(r, g, t);
  std::string text;
  for (const algorithm& a : algorithms())
    if (a.op == r.op && a.fits(r, g, t))
      text += fmt::format("{}: {} ns{}\n", a.name, a.cost(r, g, t), &a == chosen ? ", chosen" : "");
  return text;
}

} // namespace

const host_shape& shape_of(std::size_t k) {
  return shapes.at(k);
}

std::string plan_line::key() const {
  std::string text = fmt::format("{} {} IN_{} OUT_{}", name(what.op),
                                 choice ? "choice"
                                 : by   ? by->name
                                        : "-",
                                 word(what.in), word(what.out));
  const std::pair<bool, std::string_view> marks[] = {{what.direction != hint::none, word(what.direction)},
                                                     {what.in_place, "in_place"},
                                                     {what.wide_perm, "wide"},
                                                     {what.large, "large"},
                                                     {what.by_ranges, "by_ranges"},
                                                     {what.whole, "whole"},
                                                     {!setting.empty(), setting}};
  for (const auto& [holds, mark] : marks)
    if (holds) (text += ' ') += mark;
  return text;
}

std::string plan_case::key() const {
  return fmt::format("{} P={} hosts={} bytes={} root={} rows={}", line.key(), places.size(),
                     shapes[shape].name, what.bytes, what.root, rows);
}

std::string plan_case::told() const {
  if (line.choice) return told_choice(as_they_see(what), places[0], line.tuned);
  std::vector<plan> plans;
  plans.reserve(places.size());
  for (const topology& g : places)
    plans.push_back(compile(what, g, line.tuned));
  return told_actions(plans, places, specified(what, names));
}

void for_each_line(operation op, const line_visitor& visit) {
  for (const std::string_view setting : all_settings)
    for (const request& form : forms_of(op))
      for (const request& r : in_all_modes(form)) {
        bool has_choice = false;
        for (const algorithm& a : algorithms()) {
          if (a.op != by_algorithms_of(r)) continue;
          has_choice = true;
          visit({r, &a, false, setting, tuned(setting, &a)});
        }
        const bool other_choice = setting == "" || setting == "sockets";
        if (!has_choice || other_choice) visit({r, nullptr, has_choice, setting, tuned(setting, nullptr)});
      }
}

void for_each_case(const plan_line& line, sampling which, const plan_case_visitor& visit) {
  static const all_places everywhere;
  request r = line.what;
  for (std::size_t shape = 0; shape < host_shapes; ++shape)
    for (std::uint32_t members = 1; members <= most_members; ++members) {
      if (is_sampled(members) != (which == sampling::sample)) continue;
      const std::vector<topology>& places = everywhere.of(shape, members);
      if (places.empty()) continue;
      for (const std::uint64_t bytes : sizes_of(r))
        for (const std::uint32_t root : roots_of(r, members)) {
          r.bytes = bytes, r.root = root;
          if (line.by != nullptr && !line.by->fits(as_they_see(r), places[0], line.tuned)) continue;
          const std::vector<row_names> rows = rows_for(r, members);
          for (std::size_t k = 0; k < rows.size(); ++k)
            visit({line, places, shape, r, k, rows[k]});
        }
    }
}

} // namespace weft::graph
