// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/calls/staging.hpp"
#include "engine/unequal/exchange.hpp"
#include "include/upc_collective_cray.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace weft::api {

using collectives::caller;
using collectives::operation;
using unequal::block;

// One end of a call: so many blocks, or one.
struct blocks_of_end {
  upc_shared_ptr_t at;
  const std::size_t* nbytes;
  const std::ptrdiff_t* places; // null: one block, at the pointer
  std::uint32_t count;
  const char *pointer, *sizes, *offsets; // what the arguments are called
};

struct unequal_call {
  const char* name;
  operation op;
  upc_team_t team;
  int root;
  upc_handle_t* handle;
  blocks_of_end dst, src;
  caller by = caller::collective;
  bool copied = false;   // what is given is put aside in any case: it is overwritten
  bool same = false;     // there is one block, of one member or of all
  bool from_one = false; // and what is got is one, too
};

// What a call gives, and what it takes behind that. Where each member gets another block they lie in the
// shared heap: the others of the host read there which ones are for them.
struct block_list {
  struct giving_back {
    bool shown = false;
    void operator()(const block* all) const noexcept;
  };
  using held = std::unique_ptr<block[], giving_back>;
  static held take(runtime& rt, const char* call, std::size_t count, bool shown);
};

// A call whose arguments are right; nothing has been copied.
struct checked_exchange {
  block_list::held all;
  checked_computation<unequal::exchange> ready;
  upc_shared_ptr_t giver{};
  block *own = nullptr, *own_to = nullptr;
  bool stages = false;     // what is given
  std::uint64_t along = 0; // but blocks of so many bytes, which no other member reads

  std::span<block> given(const unequal_call& call) const { return {all.get(), call.src.count}; }
};

// Errors: those of the arguments.
checked_exchange check_unequal(const collective_call& c, const unequal_call& call);
cray_upc_return_t start_unequal(const collective_call& c, const unequal_call& call);

} // namespace weft::api
