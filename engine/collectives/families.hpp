#pragma once
#include "engine/collectives/relocate.hpp"

namespace weft::collectives {

graph::plan compile_barrier(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_broadcast(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_gather_all(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_exchange(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_scatter(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_gather(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_permute(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_broadcast_x(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_gather_all_x(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_exchange_x(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_scatter_x(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_gather_x(const request& r, const graph::geometry& g, const tuning& t);
graph::plan compile_permute_x(const request& r, const graph::geometry& g, const tuning& t);

// The plan of a request for one member of a team. A pure function of its arguments.
graph::plan compile(const request& r, const graph::geometry& g, const tuning& t);

} // namespace weft::collectives
