// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/atomic_operation.hpp"
#include "progress/control/inquiries.hpp"

#include <cstdint>

namespace weft::control {

// Atomic operations on memory of any rank, by two ways that exclude each other's intermediate states:
//   words      a rank that reaches the memory by loads and stores, the owner among them, uses the processor's
//              atomic instructions; for the rank that does not the owner's engine does, with the same
//              instructions
//   pointers   have 16 bytes, which processors need not swap in one: all, the owner too, have the owner's
//              engine do it, one after the other under progress ownership
// An operation is complete when it returns: the answer of the owner says so. The transport's own atomics are
// not used: an adapter's are not atomic to the processors'.
template <transport::transport T> class atomic_service {
public:
  using engine_type = progress::engine<T>;

  atomic_service(engine_type& engine, heap_service<T>& heap, inquiries<T>& asked)
      : engine_(engine), heap_(heap), asked_(asked) {}

  // By the owner's engine.
  atomic_value ask(std::uint32_t owner, std::uint64_t offset, const atomic_operation& op) {
    return asked_.ask(owner, do_atomic(offset, op)).value;
  }

  void on_request(std::uint32_t from, const do_atomic& r) {
    const atomic_operation op = r.operation();
    if (!heap_.contains(r.offset, size_of(op.type))) return; // from no rank that has checked it
    asked_.answer(from, r.id, {0, control::apply(engine_.net().segment() + r.offset, op)});
  }

  // Words, which the owner's threads may wait for.
  void on_request(std::uint32_t, const raise_signal& r) {
    if (!heap_.contains(r.offset, sizeof(std::uint64_t))) return;
    const atomic_kind kind = r.adds != 0 ? atomic_kind::add : atomic_kind::set;
    control::apply(engine_.net().segment() + r.offset, {atomic_type::u64, kind, {r.value}, {}});
    engine_.wake();
  }

private:
  engine_type& engine_;
  heap_service<T>& heap_;
  inquiries<T>& asked_;
};

} // namespace weft::control
