// weft plan: what a collective is compiled into, as a graph, and whether it is right.

#include "engine/collectives/families.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/graph/dot.hpp"
#include "engine/graph/verifier.hpp"
#include "tools/command.hpp"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

namespace weft::tool {

namespace {

struct plan_options {
  collectives::request request;
  std::uint32_t ranks = 2, nodes = 1, rank = 0;
  std::string algorithm;
  bool verify = false;
};

std::vector<std::uint32_t> node_map(const plan_options& o) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t r = 0; r < o.ranks; ++r)
    nodes.push_back(static_cast<std::uint32_t>(std::uint64_t{r} * o.nodes / o.ranks));
  return nodes;
}

// What the settings say, and the algorithm of the command line.
collectives::tuning tuning_for(const plan_options& o) {
  std::vector<std::string> warnings;
  engine::settings s = present_settings(warnings);
  if (!o.algorithm.empty()) s.algorithm = fmt::format("{}={}", name(o.request.op), o.algorithm);
  return collectives::tuning_of(s);
}

// As a comment above the graph: which algorithms there are, and what each would cost here.
void print_choice(const collectives::request& r, const graph::geometry& g, const collectives::tuning& t) {
  const collectives::algorithm* const chosen = collectives::choose(r, g, t);
  for (const collectives::algorithm& a : collectives::algorithms()) {
    if (a.op != r.op) continue;
    if (a.fits(r, g, t))
      fmt::print("// {} by {}: about {} ns{}\n", name(a.op), a.name, a.cost(r, g, t),
                 &a == chosen ? ", chosen" : "");
    else
      fmt::print("// {} by {}: does not fit, it is for {}\n", name(a.op), a.name, a.restriction);
  }
  std::fflush(stdout);
}

int show(const plan_options& o) {
  if (o.ranks == 0 || o.nodes == 0 || o.nodes > o.ranks || o.rank >= o.ranks || o.request.root >= o.ranks) {
    std::cerr
        << "weft plan: ranks, nodes, rank and root do not fit: 1 <= nodes <= ranks, rank and root < ranks\n";
    return 2;
  }
  const std::vector<std::uint32_t> nodes = node_map(o);
  const collectives::tuning t = tuning_for(o);
  const auto compiled = [&](std::uint32_t rank) {
    return collectives::compile(o.request, graph::geometry(rank, nodes), t);
  };
  if (!o.verify) {
    print_choice(o.request, graph::geometry(o.rank, nodes), t);
    std::cout << graph::to_dot(compiled(o.rank));
    return 0;
  }
  std::vector<graph::plan> plans;
  for (std::uint32_t r = 0; r < o.ranks; ++r)
    plans.push_back(compiled(r));
  const graph::verdict v = graph::verify(plans, nodes);
  std::cout << (v.ok() ? "verified\n" : v.text());
  return v.ok() ? 0 : 1;
}

} // namespace

void add_plan_command(CLI::App& app, int& status) {
  using collectives::operation;
  using graph::hint;
  using graph::sync;
  auto o = std::make_shared<plan_options>();
  CLI::App* plan =
      app.add_subcommand("plan", "Print the graph of a collective as DOT, or verify it for all ranks");
  const std::map<std::string, operation> operations{
      {"barrier", operation::barrier},       {"broadcast", operation::broadcast},
      {"scatter", operation::scatter},       {"gather", operation::gather},
      {"gather_all", operation::gather_all}, {"exchange", operation::exchange}};
  const std::map<std::string, sync> modes{{"no", sync::no}, {"my", sync::my}, {"all", sync::all}};
  const std::map<std::string, hint> hints{{"none", hint::none}, {"push", hint::push}, {"pull", hint::pull}};
  plan->add_option("operation", o->request.op, "barrier, broadcast, scatter, gather, gather_all or exchange")
      ->required()
      ->transform(CLI::CheckedTransformer(operations, CLI::ignore_case).description(""));
  plan->add_option("-n,--ranks", o->ranks, "Number of ranks")->capture_default_str();
  plan->add_option("--nodes", o->nodes, "Number of nodes")->capture_default_str();
  plan->add_option("--rank", o->rank, "Whose plan to print")->capture_default_str();
  plan->add_option("--root", o->request.root, "Root of a broadcast, scatter or gather")
      ->capture_default_str();
  plan->add_option("--bytes", o->request.bytes, "Bytes of one block")->transform(CLI::AsSizeValue(false));
  plan->add_option("--in", o->request.in, "IN mode: no, my or all (default)")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case).description(""));
  plan->add_option("--out", o->request.out, "OUT mode: no, my or all (default)")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case).description(""));
  plan->add_option("--hint", o->request.direction, "none, push or pull")
      ->transform(CLI::CheckedTransformer(hints, CLI::ignore_case).description(""));
  plan->add_option("--algorithm", o->algorithm, "Compile by this algorithm wherever it fits (weft info)");
  plan->add_flag("--verify", o->verify, "Compile the plans of all ranks and check them against each other");
  plan->footer("Examples:\n"
               "  weft plan exchange -n 4 --bytes 64K --in my --out my | dot -Tsvg > plan.svg\n"
               "  weft plan broadcast -n 64 --nodes 8 --root 3 --bytes 8 --verify");
  plan->callback([o, &status] {
    try {
      status = show(*o);
    } catch (const engine::setting_error& e) {
      std::cerr << "weft plan: " << e.what() << "\n";
      status = 2;
    }
  });
}

} // namespace weft::tool
