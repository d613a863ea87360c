// SPDX-License-Identifier: BSD-3-Clause
// The public C interface and nothing else: what a program of a user would call.
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

#include "perf/bench/unequal.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace perf {
namespace {

constexpr upc_flag_t modes = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;

// A call that fails throws, so no return code needs a check.
class weft_backend final : public backend {
public:
  weft_backend(int* argc, char*** argv) {
    weft_init(argc, argv);
    agreement_destination_ = allocate(sizeof(std::uint64_t));
    agreement_source_ = allocate(sizeof(std::uint64_t));
    signal_ = allocate(sizeof(std::uint64_t));
    std::memset(signal_.local, 0, sizeof(std::uint64_t));
    const buffer targets = allocate(sizeof(int));
    permutation_ = shared_[targets.token];
    const int target = permuted_to(rank(), size());
    std::memcpy(targets.local, &target, sizeof target);
  }
  ~weft_backend() override { weft_finalize(); }

  std::string_view name() const override { return "weft"; }
  int rank() const override { return static_cast<int>(MYTHREAD); }
  int size() const override { return static_cast<int>(THREADS); }

  buffer allocate(std::size_t bytes) override {
    const upc_shared_ptr_t base = upc_all_alloc(THREADS, bytes);
    shared_.push_back(base);
    return {upc_cast(upc_ptradd(base, 1, bytes, MYTHREAD)), shared_.size() - 1};
  }

  std::uint64_t broadcast_from_zero(std::uint64_t value) override {
    std::memcpy(agreement_source_.local, &value, sizeof value);
    blocking({operation::broadcast, agreement_destination_, agreement_source_, sizeof value});
    std::memcpy(&value, agreement_destination_.local, sizeof value);
    return value;
  }

  void blocking(const call& what) override {
    if (what.op == operation::barrier) {
      upc_barrier;
    } else {
      start(what, modes);
    }
  }

  // The loops put a block and a signal behind it, once a barrier has told that all destinations are free.
  void exchange_unequal(const unequal_blocks& b, way by) override {
    const auto me = static_cast<std::uint32_t>(MYTHREAD), all = static_cast<std::uint32_t>(THREADS);
    if (by == way::collective) {
      cray_upc_team_alltoallv(on(b.destination, me), b.taken.data(), b.taken_at.data(), on(b.source, me),
                              b.given.data(), b.given_at.data(), UPC_TEAM_ALL, nullptr);
      return;
    }
    upc_barrier;
    for (std::uint32_t round = 0; round < all; ++round) {
      const std::uint32_t receiver = (me + round) % all;
      upc_shared_ptr_t to = on(b.destination, receiver);
      to.addr += static_cast<std::uint64_t>(b.there[receiver]);
      const auto* const from = static_cast<const std::byte*>(b.source.local) + b.given_at[receiver];
      handles_[round] =
          weft_put_signal(to, from, b.given[receiver], on(signal_, receiver), 1, WEFT_SIGNAL_ADD);
      if (by == way::linear) continue;
      upc_wait(handles_[round]);
      weft_wait_until(on(signal_, me), WEFT_CMP_GE, ++signals_);
    }
    if (by == way::pairwise) return;
    for (std::uint32_t round = 0; round < all; ++round)
      upc_wait(handles_[round]);
    weft_wait_until(on(signal_, me), WEFT_CMP_GE, signals_ += all);
  }

  void post(const call& what, int slot) override {
    split_barrier_ = what.op == operation::barrier;
    if (split_barrier_) {
      upc_notify();
    } else {
      handles_[static_cast<std::size_t>(slot)] = start(what, modes | UPC_ASYNC);
    }
  }

  void wait(int slot) override {
    if (split_barrier_) {
      upc_wait();
    } else {
      upc_wait(handles_[static_cast<std::size_t>(slot)]);
    }
  }
  void test(int slot) override { static_cast<void>(upc_test(handles_[static_cast<std::size_t>(slot)])); }
  bool is_complete(int slot) override { return upc_get_status(handles_[static_cast<std::size_t>(slot)]) > 0; }
  int wait_any(int count) override { return upc_waitany(count, handles_.data()); }
  int wait_some(int count) override { return upc_waitsome(count, handles_.data()); }

  std::optional<std::uint64_t> statistic(const char* name) const override { return weft_statistic(name); }

private:
  upc_coll_handle_t start(const call& what, upc_flag_t flags) {
    const upc_shared_ptr_t destination = pointer_to(what.destination);
    const upc_shared_ptr_t source = pointer_to(what.source);
    const upc_team_t team = team_of(what);
    switch (what.op) {
    case operation::barrier:
      break;
    case operation::broadcast:
      return upc_all_broadcast(destination, source, what.bytes, flags, team);
    case operation::scatter:
      return upc_all_scatter(destination, source, what.bytes, flags, team);
    case operation::gather:
      return upc_all_gather(destination, source, what.bytes, flags, team);
    case operation::gather_all:
      return upc_all_gather_all(destination, source, what.bytes, flags, team);
    case operation::exchange:
      return upc_all_exchange(destination, source, what.bytes, flags, team);
    case operation::permute:
      return upc_all_permute(destination, source, permutation_, what.bytes, flags, team);
    case operation::team_reduce:
    case operation::team_allreduce:
      return reduce_team(what, (flags & UPC_ASYNC) != 0, team);
    case operation::reduce_all:
      return upc_all_reduce_allUL(destination, source, UPC_ADD, words(what) * threads(), words(what), nullptr,
                                  flags, team);
    case operation::prefix_reduce:
      return upc_all_prefix_reduceUL(destination, source, UPC_ADD, words(what) * threads(), words(what),
                                     nullptr, flags, team);
    }
    return UPC_HANDLE_COMPLETE;
  }

  upc_handle_t reduce_team(const call& what, bool asynchronous, upc_team_t team) {
    upc_shared_ptr_t destination = pointer_to(what.destination), source = pointer_to(what.source);
    destination.thread = source.thread = static_cast<std::uint32_t>(MYTHREAD);
    upc_handle_t handle = UPC_COMPLETE_HANDLE;
    upc_handle_t* const wanted = asynchronous ? &handle : nullptr;
    if (what.op == operation::team_reduce)
      cray_upc_team_reduce(destination, source, words(what), CRAY_UPC_ULONG, UPC_ADD, 0, team, wanted);
    else
      cray_upc_team_allreduce(destination, source, words(what), CRAY_UPC_ULONG, UPC_ADD, team, wanted);
    return handle;
  }
  static std::size_t words(const call& what) { return what.bytes / sizeof(std::uint64_t); }
  static std::size_t threads() { return static_cast<std::size_t>(THREADS); }

  upc_team_t team_of(const call& what) {
    if (!what.apart) return UPC_TEAM_ALL;
    if (!has_second_team_) cray_upc_team_split(UPC_TEAM_ALL, 0, static_cast<int>(MYTHREAD), &second_team_);
    has_second_team_ = true;
    return second_team_;
  }

  upc_shared_ptr_t on(const buffer& part, std::uint32_t thread) const {
    upc_shared_ptr_t pointer = pointer_to(part);
    pointer.thread = thread;
    return pointer;
  }
  // On thread 0, as the calls want it.
  upc_shared_ptr_t pointer_to(const buffer& part) const {
    upc_shared_ptr_t pointer = shared_[part.token];
    pointer.addr += part.offset;
    return pointer;
  }

  std::vector<upc_shared_ptr_t> shared_;
  std::array<upc_coll_handle_t, slots> handles_{};
  bool has_second_team_ = false;
  upc_team_t second_team_{};
  buffer agreement_destination_;
  buffer agreement_source_;
  buffer signal_; // counts the blocks that have come to this rank in loops of puts
  std::uint64_t signals_ = 0;
  upc_shared_ptr_t permutation_{}; // element i, where the block of thread i goes, is on thread i
  // A split-phase barrier has no handle, and only one can be under way.
  bool split_barrier_ = false;
};

} // namespace

const char* const rank_variable = "PMIX_RANK";

std::unique_ptr<backend> make_backend(int* argc, char*** argv) {
  return std::make_unique<weft_backend>(argc, argv);
}

} // namespace perf
