// SPDX-License-Identifier: BSD-3-Clause
// weft plan: what a collective is compiled into, as a graph, and whether it is right.

#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/format.hpp"
#include "engine/operations/all_kinds.hpp"
#include "engine/settings.hpp"
#include "engine/transport/ucx/context.hpp"
#include "tools/command.hpp"
#include "tools/plan_options.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

namespace weft::tool {

namespace {

// What a block may have: beyond, offsets of as many ranks as there may be are no 64-bit numbers.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 47;

// With a table of the sizes of all pairs.
constexpr std::uint32_t most_skewed_ranks = 4096;

bool has_root(collectives::operation op) {
  return collectives::rooted(op) || collectives::rooted_by_rows(op);
}

bool has_algorithms(collectives::operation op) {
  return std::ranges::any_of(collectives::algorithms(), [&](const auto& a) { return a.op == op; });
}

// Whatever stands in shared memory.
bool has_cost(collectives::operation op) {
  return has_algorithms(op) || collectives::cost_of_only_way({.op = op}, graph::topology(0, {0}), {});
}

// What the machine does not have, or nothing.
std::string too_large(const plan_options& o) {
  const machine& on = *o.on;
  const std::string has =
      engine::format("{} has {} hosts of {} cores, for {} ranks", on.name, on.hosts, on.cores, on.ranks());
  if (o.scale && o.each() > on.cores)
    return engine::format("--scale {} is more than a node has: {}; name at most {}", o.each(), has, on.cores);
  if (o.ranks > on.ranks())
    return engine::format("-n {} does not fit: {}; take fewer, or describe a larger machine", o.ranks, has);
  if (o.nodes > on.hosts) return engine::format("--nodes {} does not fit: {}; take fewer", o.nodes, has);
  if (!o.scale && (o.ranks + o.nodes - 1) / o.nodes > on.cores)
    return engine::format("{} ranks on {} nodes do not fit: {}; take more nodes", o.ranks, o.nodes, has);
  return {};
}

// What does not go together, or nothing.
std::string wrong(const plan_options& o) {
  const collectives::operation op = o.request.op;
  if (!o.named && !o.scale) return "operation is required";
  if (!o.named && (o.root || o.bytes || o.request.in_place || !o.algorithm.empty()))
    return "--scale of all operations takes no argument of one: name the operation";
  if (o.scale && (o.verify || o.goal || o.perm || o.ranks != 2 || o.nodes != 1 || o.rank != 0 || o.root))
    return "--scale goes over all numbers of ranks, with root 0: leave the others out";
  if (o.scale && o.named && !has_cost(op)) return engine::format("{} has no predicted time", name(op));
  if (o.ranks == 0 || o.nodes == 0 || o.nodes > o.ranks || o.rank >= o.ranks || o.root.value_or(0) >= o.ranks)
    return "ranks, nodes, rank and root do not fit: 1 <= nodes <= ranks, rank and root < ranks";
  if (o.on)
    if (const std::string complaint = too_large(o); !complaint.empty()) return complaint;
  if (o.verify && o.goal) return "--verify and --goal: one of them";
  if (o.root && !has_root(op)) return engine::format("{} has no root: leave --root out", name(op));
  if (o.request.in_place && !collectives::has_in_place(op))
    return engine::format("{} has no plan in place: leave --in-place out", name(op));
  if (o.bytes && (op == collectives::operation::barrier || collectives::sized_by_rows(op)))
    return engine::format("{} is not given the size of a block: leave --bytes out", name(op));
  if (collectives::computes(op) && !collectives::of_vectors(op) &&
      o.bytes.value_or(0) > collectives::most_partials)
    return engine::format("--bytes = {} is no size of a member's partial results: at least 0, at most {}",
                          *o.bytes, collectives::most_partials);
  if (o.bytes.value_or(0) > most_bytes)
    return engine::format("--bytes = {} is no size of a block: at least 0, at most {}",
                          static_cast<std::int64_t>(*o.bytes), most_bytes);
  if (!o.algorithm.empty() && !has_algorithms(op))
    return engine::format("{} has no choice of algorithms: leave --algorithm out", name(op));
  if (o.skew && op != collectives::operation::team_alltoallv)
    return engine::format("{} has blocks of one size here: leave --skew out, it is for team_alltoallv",
                          name(op));
  if (o.skew && (o.scale || o.verify || o.goal))
    return "--skew predicts the time of one team: leave --scale, --verify and --goal out";
  if (o.skew && o.ranks > most_skewed_ranks)
    return engine::format("-n {} with --skew is too many: a size for each pair, at most {} ranks", o.ranks,
                          most_skewed_ranks);
  if (!o.perm) return {};
  if (!collectives::permutes(op)) return engine::format("{} has no permutation: leave --perm out", name(op));
  if (!std::ranges::is_permutation(*o.perm, collectives::shifted(o.ranks, 0)))
    return "--perm must name each rank once";
  return {};
}

} // namespace

collectives::request completed(const plan_options& o) {
  constexpr std::uint64_t bytes_unless_told = 8;
  collectives::request r = o.request;
  if (collectives::rooted(r.op)) r.root = o.root.value_or(0);
  if (r.op != collectives::operation::barrier && !collectives::sized_by_rows(r.op))
    r.bytes = o.bytes.value_or(bytes_unless_told);
  return r;
}

collectives::row_names rows(const plan_options& o) {
  if (collectives::permutes(o.request.op)) return o.perm ? *o.perm : collectives::shifted(o.ranks);
  if (collectives::rooted_by_rows(o.request.op)) return collectives::to_root(o.ranks, o.root.value_or(0));
  return {};
}

collectives::tuning tuning_for(const plan_options& o, std::uint32_t nodes) {
  std::vector<std::string> warnings;
  engine::settings s = engine::present_settings(warnings);
  if (o.on && !s.costs.empty())
    throw engine::setting_error(
        "WEFT_COSTS and --machine both say what transfers cost: leave one of them out");
  if (!o.algorithm.empty()) s.algorithm = engine::format("{}={}", name(o.request.op), o.algorithm);
  collectives::tuning t =
      collectives::tuning_of(s, o.on ? o.on->reaches_memory : transport::ucx::network_reaches_memory());
  if (o.on) t.costs = o.on->costs(nodes);
  return t;
}

namespace {

std::vector<std::uint32_t> node_map(const plan_options& o) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t r = 0; r < o.ranks; ++r)
    nodes.push_back(static_cast<std::uint32_t>(std::uint64_t{r} * o.nodes / o.ranks));
  return nodes;
}

// As a comment above the graph: which algorithms there are, and what each would cost here.
void print_choice(const collectives::request& r, const graph::topology& g, const collectives::tuning& t) {
  const collectives::algorithm* const chosen = collectives::choose(r, g, t);
  if (!has_algorithms(r.op)) {
    const std::optional<std::uint64_t> cost = collectives::cost_of_only_way(r, g, t);
    engine::print(stdout, "// {} in its only way: {}\n", name(r.op),
                  cost ? engine::format("about {} ns", *cost)
                       : "the cost depends on the sizes, which stand in shared memory");
  }
  for (const collectives::algorithm& a : collectives::algorithms()) {
    if (a.op != r.op) continue;
    if (a.fits(r, g, t))
      engine::print(stdout, "// {} by {}: about {} ns{}\n", name(a.op), a.name, a.cost(r, g, t),
                    &a == chosen ? ", chosen" : "");
    else
      engine::print(stdout, "// {} by {}: does not fit, it is for {}\n", name(a.op), a.name, a.restriction);
  }
  std::fflush(stdout);
}

// Of all operations that have a size.
int show_scale(plan_options o) {
  for (const collectives::operation op : collectives::operations) {
    if (o.named ? op != o.request.op : !has_cost(op)) continue;
    plan_options of = o;
    of.request.op = op;
    if (collectives::of_vectors(op)) of.request.in = of.request.out = graph::sync::my;
    print_scale(
        {completed(of), of.each(), of.on, [&of](std::uint32_t nodes) { return tuning_for(of, nodes); }});
  }
  return 0;
}

// As a comment too, and as it is told to a job.
void print_machine(const machine& on, std::uint32_t nodes) {
  const auto values = on.costs(nodes).values();
  std::string costs;
  for (std::size_t k = 0; k < values.size(); ++k)
    costs += engine::format("{}{}={}", k == 0 ? "" : ",", collectives::cost_table::names[k], values[k]);
  engine::print(stdout, "// machine {}, {} nodes in {} groups: WEFT_COSTS={}\n", on.name, nodes,
                on.groups(nodes), costs);
}

// Where the ranks live, unless it is told.
void place_on_machine(plan_options& o, const std::string& file_or_name) {
  o.on = machine_of(file_or_name);
  if (!o.spread && !o.scale) o.nodes = (o.ranks + o.on->cores - 1) / o.on->cores;
}

int show(const plan_options& o) {
  if (const std::string complaint = wrong(o); !complaint.empty()) {
    std::cerr << "weft plan: " << complaint << "\n";
    return 2;
  }
  if (o.scale) return show_scale(o);
  const collectives::request r = completed(o);
  const std::vector<std::uint32_t> nodes = node_map(o);
  const collectives::tuning t = tuning_for(o, o.nodes);
  if (o.skew) {
    if (o.on) print_machine(*o.on, o.nodes);
    print_skewed(o, nodes);
    return 0;
  }
  const auto compiled = [&](std::uint32_t rank) {
    return collectives::compile(r, graph::topology(rank, nodes), t);
  };
  if (!o.verify && !o.goal) {
    if (o.on) print_machine(*o.on, o.nodes);
    print_choice(r, graph::topology(o.rank, nodes), t);
    std::cout << graph::to_dot(compiled(o.rank));
    return 0;
  }
  return unfold_all(o, nodes, compiled);
}

template <class Value> using choices = std::vector<std::pair<std::string, Value>>;

template <class Value> std::string listed(const choices<Value>& all) {
  std::string text;
  for (const auto& [name, value] : all)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

// An option that is one of these words.
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& option, const char* type, Value& where,
                        const choices<Value>& all, const std::string& help) {
  const auto read = [all](std::string& text) -> std::string {
    for (const auto& [name, value] : all) {
      if (CLI::detail::to_lower(text) != name) continue;
      text = std::to_string(static_cast<int>(value));
      return {};
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : all)
      names.push_back(name);
    const std::string meant = engine::nearest(text, names);
    return meant.empty() ? engine::format("{} is none of {}", text, listed(all))
                         : engine::format("{} is none of them; did you mean {}?", text, meant);
  };
  return app.add_option(option, where, engine::format("{}: {}", help, listed(all)))
      ->transform(CLI::Validator(read, ""))
      ->type_name(type);
}

choices<collectives::operation> all_operations() {
  choices<collectives::operation> all;
  for (const collectives::operation op : collectives::operations)
    all.emplace_back(name(op), op);
  return all;
}

} // namespace

void add_plan_command(CLI::App& app, int& status) {
  using graph::hint;
  using graph::sync;
  auto o = std::make_shared<plan_options>();
  CLI::App* plan =
      app.add_subcommand("plan", "Print the graph of a collective as DOT, or verify it for all ranks");
  const choices<sync> modes{{"no", sync::no}, {"my", sync::my}, {"all", sync::all}};
  const choices<hint> hints{{"none", hint::none}, {"push", hint::push}, {"pull", hint::pull}};
  CLI::Option* const operation =
      add_choice(*plan, "operation", "NAME", o->request.op, all_operations(), "The collective, one of");
  plan->add_option("-n,--ranks", o->ranks, "Number of ranks")
      ->capture_default_str()
      ->check(CLI::Range(std::uint32_t{1}, most_ranks_of_a_plan).description(""));
  CLI::Option* const nodes = plan->add_option("--nodes", o->nodes, "Number of nodes")->capture_default_str();
  plan->add_option("--rank", o->rank, "Whose plan to print")->capture_default_str();
  plan->add_option("--root", o->root, "Root of a broadcast, scatter or gather; 0 unless told");
  plan->add_option("--bytes", o->bytes, "Bytes of one block, as in 64K; 8 unless told")
      ->transform(CLI::AsSizeValue(false).description(""));
  add_choice(*plan, "--in", "MODE", o->request.in, modes, "IN mode, all unless told");
  add_choice(*plan, "--out", "MODE", o->request.out, modes, "OUT mode, all unless told");
  add_choice(*plan, "--hint", "WAY", o->request.direction, hints,
             "Which end carries the data, none unless told");
  plan->add_flag("--in-place", o->request.in_place,
                 "As with UPC_IN_PLACE: gather_all, exchange, permute and their _x");
  plan->add_option("--perm", o->perm,
                   "The permutation that a permute is verified for, as in 2,0,1; each block to the next rank "
                   "unless told")
      ->delimiter(',');
  plan->add_option("--algorithm", o->algorithm, "Compile by this algorithm wherever it fits (weft info)");
  plan->add_flag("--verify", o->verify, "Compile the plans of all ranks and check them against each other");
  plan->add_flag("--goal", o->goal,
                 "Write the plans of all ranks as a schedule in the format GOAL, for LogGOPSim");
  plan->add_option(
          "--scale", o->scale,
          "How the predicted time grows from 2 to 131072 ranks, so many on a node, 32 unless told, or "
          "the machine's cores; of all operations if none is named")
      ->expected(0, 1)
      ->default_str("0")
      ->check(CLI::Range(std::uint32_t{0}, most_ranks_of_a_host).description(""));
  plan->add_option(
          "--skew", o->skew,
          "Of team_alltoallv: what it takes, and loops of puts, if the k-th largest block has 1/k^SKEW "
          "of the bytes of the largest")
      ->type_name("SKEW")
      ->check(CLI::Range(0.0, 8.0).description(""));
  const auto on = std::make_shared<std::string>();
  CLI::Option* const machine =
      plan->add_option(
              "--machine", *on,
              "What transfers cost, and how many ranks fit: a file with the description of a machine, or "
              "one of " +
                  installed_machines())
          ->type_name("FILE|NAME");
  plan->footer("Examples:\n"
               "  weft plan exchange -n 4 --bytes 64K --in my --out my | dot -Tsvg > plan.svg\n"
               "  weft plan broadcast -n 64 --nodes 8 --root 3 --bytes 8 --verify\n"
               "  weft plan permute_x -n 3 --nodes 2 --in-place --perm 2,0,1 --verify\n"
               "  weft plan reduce_all --scale 64 --in my --out my\n"
               "  weft plan exchange --scale --machine slingshot\n"
               "  weft plan team_alltoallv -n 1024 --nodes 32 --bytes 64K --skew 1\n"
               "  weft plan exchange -n 16 --nodes 4 --goal > exchange.goal");
  plan->callback([o, operation, nodes, machine, on, &status] {
    o->named = operation->count() != 0;
    o->spread = nodes->count() != 0;
    try {
      if (machine->count() != 0) place_on_machine(*o, *on);
      status = show(*o);
    } catch (const std::runtime_error& e) {
      std::cerr << "weft plan: " << e.what() << "\n";
      status = 2;
    }
  });
}

} // namespace weft::tool
