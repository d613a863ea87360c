// SPDX-License-Identifier: BSD-3-Clause
// The one-sided relocalizations. Among threads of one host the caller moves the blocks itself: it needs
// no rank for that; and between hosts what is small, with all of its gets and puts under way at once. What is
// large between hosts, or need not be complete on return, is an operation on the caller's own channel for
// those that take part: the engines of roots and destinations carry it, in trees, whatever their threads are
// about. Where there is no room for such a channel, or the root takes no part, the caller does that, too.
#include "include/weft/one_sided.hpp"

#include "api/calls/collective_call.hpp"
#include "api/checks/phase_record.hpp"
#include "api/one_sided/by_caller.hpp"
#include "engine/collectives/operations.hpp"

#include <algorithm>

namespace weft {
namespace api {
namespace {

using collectives::operation;

// On the root alone, or on each thread; one block there, or one for each thread.
struct operand_form {
  bool rooted, all_blocks;
};
constexpr operand_form of_operand(bool rooted, collectives::blocks_of_operand blocks) {
  return {rooted, blocks == collectives::blocks_of_operand::one_a_member};
}
struct one_sided_form {
  const char* name;
  operation op;
  void (carried_by_caller::*carry)();
  // As the catalogue of operations has its operands.
  const collectives::operation_facts& of = collectives::facts_of(op);
  operand_form dst = of_operand(of.root == collectives::root_has::destination, of.dst);
  operand_form src = of_operand(of.root == collectives::root_has::source, of.src);
};
constexpr one_sided_form forms[] = {
    {"upc_broadcast", operation::broadcast, &carried_by_caller::broadcast},
    {"upc_scatter", operation::scatter, &carried_by_caller::scatter},
    {"upc_gather", operation::gather, &carried_by_caller::gather},
    {"upc_exchange", operation::exchange, &carried_by_caller::exchange},
    {"upc_gather_all", operation::gather_all, &carried_by_caller::gather_all},
};

class one_sided_call {
public:
  one_sided_call(const one_sided_form& form, runtime& rt, const subset& ranks, bool async)
      : form_(form), rt_(rt), ranks_(ranks), async_(async) {}

  upc_coll_handle_t start(const one_sided_blocks& blocks) const {
    check(blocks);
    if (phase_record::on) note(blocks);
    if (worth_the_engines(blocks))
      if (const auto engines = by_engines(form_.name, rt_, ranks_, async_))
        return engines->start({.op = form_.op,
                               .root = rooted() ? ranks_.place_of(root(blocks)) : 0,
                               .bytes = blocks.bytes,
                               .in_place = form_.op == operation::exchange && blocks.in_place},
                              {.dst = blocks.dst.addr, .src = blocks.src.addr});
    naming(form_.name, [&] {
      carried_by_caller work(form_.name, rt_, ranks_, blocks);
      (work.*form_.carry)();
      work.finish();
    });
    return UPC_HANDLE_COMPLETE;
  }

private:
  void check(const one_sided_blocks& b) const {
    const checked all = product(form_.name, "nbytes * threads", b.bytes, ranks_.size());
    const checked dst = form_.dst.all_blocks ? all : b.bytes, src = form_.src.all_blocks ? all : b.bytes;
    if (b.in_place) {
      if (form_.op == operation::gather_all)
        fail_pointer(form_.name, "src", b.src, "is dst: this operation is not in place, pass another area");
      check_operand("dst", b.dst, {rooted(), true}, std::max(dst, src));
      return require_symmetric_range(rt_, form_.name, "dst", b.dst, std::max(dst, src));
    }
    check_operand("dst", b.dst, form_.dst, dst);
    check_operand("src", b.src, form_.src, src);
    const bool meet = !rooted() || ranks_.place_of(root(b)) != ranks_.size();
    if (meet && overlap({"dst", b.dst, dst}, {"src", b.src, src}))
      fail_pointer(form_.name, "dst", b.dst,
                   "overlaps src: pass two areas that have no byte in common, or the same pointer for both");
  }

  void note(const one_sided_blocks& b) const {
    note_operand(b.src, form_.src, b.bytes, b.in_place && form_.op == operation::exchange);
    note_operand(b.dst, form_.dst, b.bytes, true);
  }
  void note_operand(upc_shared_ptr_t p, operand_form form, std::size_t block, bool writes) const {
    const std::size_t bytes = form.all_blocks ? block * ranks_.size() : block;
    if (form.rooted) return phase_record::note(rt_, form_.name, {p.thread, p.addr, bytes, writes});
    for (std::uint32_t k = 0; k < ranks_.size(); ++k)
      phase_record::note(rt_, form_.name, {ranks_[k], p.addr, bytes, writes});
  }

  void check_operand(const char* argument, upc_shared_ptr_t p, operand_form form, checked bytes) const {
    require_not_null(form_.name, argument, p);
    require_thread(rt_, form_.name, argument, p.thread);
    if (form.rooted) return require_range(rt_, form_.name, argument, p, bytes);
    if (is_ordinary(p)) fail_ordinary_pointer(form_.name, argument, p);
    if (p.thread != ranks_[0])
      fail_pointer(form_.name, argument, p,
                   "must have affinity to the first of the threads that take part: pass the pointer to its "
                   "block");
    require_symmetric_range(rt_, form_.name, argument, p, bytes);
  }

  std::uint32_t root(const one_sided_blocks& b) const {
    return form_.src.rooted ? b.src.thread : b.dst.thread;
  }

  bool rooted() const { return form_.dst.rooted || form_.src.rooted; }

  // The root is one of those whose engines carry. In place the blocks of scatter and gather have an order,
  // unless the root's own one stays.
  bool worth_the_engines(const one_sided_blocks& b) const {
    const std::uint32_t from = rooted() ? ranks_.place_of(root(b)) : 0;
    const bool ordered = b.in_place && form_.op != operation::broadcast && form_.op != operation::exchange;
    if (from == ranks_.size() || (ordered && from != 0)) return false;
    return worth_engines(rt_, ranks_, (rooted() ? 1 : ranks_.size()) * checked(b.bytes) * ranks_.size(),
                         async_);
  }

  const one_sided_form& form_;
  runtime& rt_;
  const subset& ranks_;
  bool async_;
};

enum class which : std::uint8_t { broadcast, scatter, gather, exchange, gather_all };

template <class Ranks>
upc_coll_handle_t call(which it, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                       upc_flag_t flags, Ranks&& ranks) {
  const one_sided_form& form = forms[static_cast<std::size_t>(it)];
  runtime& rt = runtime::get(form.name);
  require_outside_user_code(form.name);
  require_known_flags(form.name, flags);
  const subset threads = ranks(rt, form.name);
  if (nbytes == 0) return UPC_HANDLE_COMPLETE;
  return one_sided_call(form, rt, threads, flags != 0).start({dst, src, nbytes, upc_ptreq(dst, src) != 0});
}

upc_coll_handle_t of_team(which it, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                          upc_flag_t flags, upc_team_t team) {
  return call(it, dst, src, nbytes, flags,
              [&](runtime& rt, const char* name) { return subset::of_team(rt, name, team); });
}
upc_coll_handle_t of_threads(which it, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                             upc_flag_t flags, const int* threads, std::size_t count) {
  return call(it, dst, src, nbytes, flags,
              [&](runtime& rt, const char* name) { return subset::of_list(rt, name, threads, count); });
}

} // namespace
} // namespace api

using api::which;

void upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::of_team(which::broadcast, dst, src, nbytes, 0, UPC_TEAM_ALL);
}
void upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::of_team(which::scatter, dst, src, nbytes, 0, UPC_TEAM_ALL);
}
void upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::of_team(which::gather, dst, src, nbytes, 0, UPC_TEAM_ALL);
}
void upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::of_team(which::exchange, dst, src, nbytes, 0, UPC_TEAM_ALL);
}
void upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  api::of_team(which::gather_all, dst, src, nbytes, 0, UPC_TEAM_ALL);
}
void upc_broadcast_in_place(upc_shared_ptr_t both, size_t nbytes) {
  api::of_team(which::broadcast, both, both, nbytes, 0, UPC_TEAM_ALL);
}

upc_coll_handle_t upc_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t flags, upc_team_t team) {
  return api::of_team(which::broadcast, dst, src, nbytes, flags, team);
}
upc_coll_handle_t upc_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t flags, upc_team_t team) {
  return api::of_team(which::scatter, dst, src, nbytes, flags, team);
}
upc_coll_handle_t upc_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes, upc_flag_t flags,
                                  upc_team_t team) {
  return api::of_team(which::gather, dst, src, nbytes, flags, team);
}
upc_coll_handle_t upc_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t flags, upc_team_t team) {
  return api::of_team(which::exchange, dst, src, nbytes, flags, team);
}
upc_coll_handle_t upc_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                      upc_flag_t flags, upc_team_t team) {
  return api::of_team(which::gather_all, dst, src, nbytes, flags, team);
}

upc_coll_handle_t upc_broadcast_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        upc_flag_t flags, const int* threads, size_t count) {
  return api::of_threads(which::broadcast, dst, src, nbytes, flags, threads, count);
}
upc_coll_handle_t upc_scatter_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                      upc_flag_t flags, const int* threads, size_t count) {
  return api::of_threads(which::scatter, dst, src, nbytes, flags, threads, count);
}
upc_coll_handle_t upc_gather_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t flags, const int* threads, size_t count) {
  return api::of_threads(which::gather, dst, src, nbytes, flags, threads, count);
}
upc_coll_handle_t upc_exchange_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       upc_flag_t flags, const int* threads, size_t count) {
  return api::of_threads(which::exchange, dst, src, nbytes, flags, threads, count);
}
upc_coll_handle_t upc_gather_all_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                         upc_flag_t flags, const int* threads, size_t count) {
  return api::of_threads(which::gather_all, dst, src, nbytes, flags, threads, count);
}

} // namespace weft
