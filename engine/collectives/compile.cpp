#include "engine/collectives/families.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/operations/posting.hpp"
#include "engine/operations/settle.hpp"
#include "engine/special_paths.hpp"

#include <array>

namespace weft::collectives {

namespace {

graph::plan by_cheapest(const request& r, const graph::topology& g, const tuning& t) {
  return choose(r, g, t)->compile(r, g, t);
}

// In the order of all_operations.
constexpr std::array compilers{
    &compile_barrier,   &by_cheapest,      &by_cheapest,         &by_cheapest,          &compile_scatter,
    &compile_gather,    &compile_permute,  &compile_broadcast_x, &compile_gather_all_x, &compile_exchange_x,
    &compile_scatter_x, &compile_gather_x, &compile_permute_x,   &by_cheapest,          &by_cheapest,
    &by_cheapest,       &compile_sort,     &by_cheapest,         &by_cheapest};
static_assert(compilers.size() == std::size(all_operations));

} // namespace

graph::plan compile(const request& r, const graph::topology& g, const tuning& t) {
  graph::plan p = compilers[static_cast<std::size_t>(r.op)](r, g, t);
  if (t.check && g.size() > 1) p = with_comparison(p, r.in, g);
  if (special::settled_steps) graph::settle(p, g);
  graph::note_for_post(p);
  if (!special::post_sends_little && p.opening != 0) p.opening = graph::plan::unbounded;
  return p;
}

} // namespace weft::collectives
