#include "engine/collectives/families.hpp"

namespace weft::collectives {

namespace {

graph::plan plan_of_family(const request& r, const graph::geometry& g, const tuning& t) {
  switch (r.op) {
  case operation::barrier:
    return compile_barrier(r, g, t);
  case operation::broadcast:
  case operation::gather_all:
  case operation::exchange:
    return choose(r, g, t)->compile(r, g, t);
  case operation::scatter:
    return compile_scatter(r, g, t);
  case operation::gather:
    return compile_gather(r, g, t);
  case operation::permute:
    return compile_permute(r, g, t);
  case operation::broadcast_x:
    return compile_broadcast_x(r, g, t);
  case operation::gather_all_x:
    return compile_gather_all_x(r, g, t);
  case operation::exchange_x:
    return compile_exchange_x(r, g, t);
  case operation::scatter_x:
    return compile_scatter_x(r, g, t);
  case operation::gather_x:
    return compile_gather_x(r, g, t);
  case operation::permute_x:
    return compile_permute_x(r, g, t);
  }
  return {};
}

} // namespace

graph::plan compile(const request& r, const graph::geometry& g, const tuning& t) {
  const graph::plan p = plan_of_family(r, g, t);
  return t.check && g.size() > 1 ? with_comparison(p, r.in, g) : p;
}

} // namespace weft::collectives
