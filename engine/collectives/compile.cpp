#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile(const request& r, const graph::geometry& g, const tuning& t) {
  switch (r.op) {
  case operation::barrier:
    return compile_barrier(r, g, t);
  case operation::broadcast:
    return compile_broadcast(r, g, t);
  case operation::gather_all:
    return compile_gather_all(r, g, t);
  case operation::exchange:
    return compile_exchange(r, g, t);
  case operation::scatter:
    return compile_scatter(r, g, t);
  case operation::gather:
    return compile_gather(r, g, t);
  }
  return {};
}

} // namespace weft::collectives
