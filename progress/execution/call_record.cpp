#include "progress/execution/call_record.hpp"

#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/plan/names.hpp"

#include <fmt/core.h>

namespace weft::progress {

using collectives::caller;
using collectives::operation;

namespace {

// By caller, in its order; the first three depend on the operation.
constexpr const char* names_of_callers[] = {"",
                                            "",
                                            "",
                                            "upc_all_alloc",
                                            "upc_all_free",
                                            "cray_upc_team_split",
                                            "weft_team_from_threads",
                                            "weft_init",
                                            "weft_finalize",
                                            "upc_all_lock_alloc",
                                            "upc_all_lock_free"};

bool has_arrays(operation op) {
  return op > operation::broadcast_x && !collectives::computes(op);
}

std::string arguments_of(const call_record& call) {
  const collectives::request r = call.what();
  const graph::binding at = call.at();
  std::string text = fmt::format("dst {:#x}, src {:#x}", at.dst, at.src);
  if (r.op == operation::permute || r.op == operation::permute_x)
    text += fmt::format(", perm {:#x}", at.perm);
  if (collectives::computes(r.op))
    text += fmt::format(", nelems {}", at.sizes);
  else
    text += has_arrays(r.op) ? fmt::format(", nbytes {:#x}", at.sizes) : fmt::format(", nbytes {}", r.bytes);
  if (collectives::rooted(r.op)) text += fmt::format(", root {}", r.root);
  text += fmt::format(", {}/{}", graph::name(r.in), graph::name(r.out));
  if (r.direction != graph::hint::none) text += r.direction == graph::hint::push ? ", push" : ", pull";
  if (r.in_place) text += ", in place";
  return text;
}

} // namespace

std::string call_name(const collectives::request& r) {
  if (r.by > caller::cray_nb) return names_of_callers[static_cast<std::size_t>(r.by)];
  const bool barrier = r.op == operation::barrier;
  if (collectives::of_vectors(r.op)) return fmt::format("cray_upc_{}", collectives::name(r.op));
  if (r.by == caller::collective)
    return barrier ? "upc_barrier"
                   : fmt::format("upc_all_{}{}", collectives::name(r.op),
                                 r.op == operation::permute_x && !r.wide_perm ? "i" : "");
  return std::string(barrier ? "cray_upc_team_barrier" : "cray_upc_team_alltoall") +
         (r.by == caller::cray_nb ? "_nb" : "");
}

std::string text_of(const call_record& call) {
  const collectives::request r = call.what();
  const graph::binding at = call.at();
  std::string arguments;
  if (r.by == caller::all_alloc)
    arguments = fmt::format("{} bytes a thread", at.sizes);
  else if (r.by == caller::all_free || r.by == caller::lock_free)
    arguments = fmt::format("offset {:#x}", at.sizes);
  else if (r.by <= caller::cray_nb && r.op != operation::barrier)
    arguments = arguments_of(call);
  return fmt::format("{}({})", call_name(r), arguments);
}

namespace {

// Calls that are the same, and rows in shared memory that do not fit together.
std::string names_of(const call_dispute& d) {
  if (d.rank == d.other_rank)
    return fmt::format("the element of perm of thread {} names no thread of the team", d.rank);
  if (d.call.permutes())
    return fmt::format(
        "the elements of perm of threads {} and {} both name thread {}: a permutation names every "
        "thread of the team once",
        d.rank, d.other_rank, d.call.named());
  return fmt::format(
      "the elements of thread {} name thread {} as the root, those of thread {} name thread {}: all "
      "must name the same",
      d.rank, d.call.named(), d.other_rank, d.other_call.named());
}

} // namespace

std::string text_of(const call_dispute& d, engine::sequence now) {
  if (d.call.same_call(d.other_call))
    return fmt::format("operation {} of team {}, {}: {}{}", d.seq, d.team, text_of(d.call), names_of(d),
                       now == d.seq ? "" : "; nothing else can be done on this team since then");
  return fmt::format(
      "operation {} of team {}: thread {} called {}, thread {} called {}: all threads must make "
      "the same calls in the same order{}",
      d.seq, d.team, d.rank, text_of(d.call), d.other_rank, text_of(d.other_call),
      now == d.seq ? "" : "; nothing else can be done on this team since then");
}

} // namespace weft::progress
