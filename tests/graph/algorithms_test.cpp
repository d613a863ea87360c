// Every algorithm of the list, checked wherever it fits; and how one of them is chosen.
#include "engine/collectives/algorithm.hpp"
#include "engine/graph/names.hpp"
#include "engine/graph/stages.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::graph {
namespace {
using namespace collectives;

std::vector<plan> compile_by(const algorithm& a, const request& r, const node_map& nodes) {
  return compile_all(r, nodes, forcing(a.op, a.name));
}

bool fits_all(const algorithm& a, const request& r, const node_map& nodes) {
  return a.fits(r, geometry(0, nodes), tuning{});
}

bool is_staged_algorithm(const algorithm& a) {
  return a.name != "flat" && a.name != "spread";
}

const algorithm& named(operation op, std::string_view name) {
  for (const algorithm& a : algorithms())
    if (a.op == op && a.name == name) return a;
  throw std::logic_error("no such algorithm");
}

std::vector<node_map> maps_of(std::uint32_t members) {
  return {alone(members), blocks_of(members, 2), blocks_of(members, 3), dealt(members, 2), dealt(members, 5)};
}

void for_each_staged(std::uint32_t members, const std::vector<node_map>& maps,
                     const std::function<void(const algorithm&, const request&, const node_map&)>& visit) {
  for (const algorithm& a : algorithms()) {
    if (!is_staged_algorithm(a)) continue;
    for (const node_map& nodes : maps) {
      for (const sync in : {sync::no, sync::my, sync::all}) {
        for (const sync out : {sync::no, sync::my, sync::all}) {
          for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{2048}, std::uint64_t{300001}}) {
            for (const std::uint32_t root : std::set<std::uint32_t>{0, members / 2, members - 1}) {
              if (root != 0 && !rooted(a.op)) continue;
              const request r{a.op, in, out, hint::none, root, bytes};
              if (fits_all(a, r, nodes)) visit(a, r, nodes);
            }
          }
        }
      }
    }
  }
}

class every_algorithm : public testing::TestWithParam<std::uint32_t> {};

TEST_P(every_algorithm, is_correct_where_it_fits) {
  for_each_staged(GetParam(), maps_of(GetParam()),
                  [&](const algorithm& a, const request& r, const node_map& nodes) {
                    if (HasFailure()) return;
                    const verdict v = verify(compile_by(a, r, nodes), nodes, specified(r));
                    EXPECT_TRUE(v.ok()) << a.name << ": " << text(r, nodes) << "\n" << v.text();
                  });
}

INSTANTIATE_TEST_SUITE_P(members, every_algorithm,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 33),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(long_members, every_algorithm, testing::Range(1u, 65u),
                         testing::PrintToStringParamName());

} // namespace
} // namespace weft::graph
