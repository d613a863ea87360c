// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/program_memory.hpp"

#include "engine/format.hpp"
#include "engine/log.hpp"

#include <array>
#include <dlfcn.h>


namespace weft::api {

namespace {

constexpr std::uint64_t page = 4096;

// Of malloc/preload.cpp.
template <class F> F* in_malloc(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}
using begins = bool(void* memory, std::size_t bytes, std::size_t least, std::size_t most_kept);
using ends = bool(void* memory);
using counts = void(void* memory, std::uint64_t* four);

} // namespace

std::uint64_t program_memory::room(const engine::settings& s) {
  return s.malloc ? (s.malloc_room + page - 1) / page * page + page : 0;
}

void program_memory::begin(std::byte* memory, const engine::settings& s, bool shared_for_good, bool speaks) {
  auto* const by = in_malloc<begins>("weft_malloc_begin");
  if (by == nullptr && speaks)
    engine::log(
        engine::severity::warn,
        "WEFT_MALLOC=1 without libweft-malloc.so: allocations of the program stay ordinary memory; start "
        "by weft run or weft mpi, or set LD_PRELOAD to its path");
  if (by == nullptr) return;
  const auto from = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  memory_ = reinterpret_cast<std::byte*>(from);
  const std::uint64_t bytes = room(s) - page;
  if (!by(memory_, bytes, s.malloc_least, shared_for_good ? ~std::size_t{0} : bytes / 2)) memory_ = nullptr;
}

bool program_memory::end() {
  if (memory_ == nullptr) return true;
  const bool gone = in_malloc<ends>("weft_malloc_end")(memory_);
  memory_ = nullptr;
  return gone;
}

void program_memory::print(std::uint32_t rank) const {
  if (memory_ == nullptr) return;
  std::array<std::uint64_t, 4> numbers{};
  in_malloc<counts>("weft_malloc_counts")(memory_, numbers.data());
  constexpr std::array<std::array<const char*, 2>, 4> lines{
      {{"malloc_in_segment", "allocations of the program that were placed in the shared segment"},
       {"malloc_bytes", "bytes of those that are left"},
       {"malloc_most_bytes", "bytes of those that there were at once, at most"},
       {"malloc_elsewhere", "large allocations for which it had no room: WEFT_MALLOC_ROOM"}}};
  for (std::size_t k = 0; k != lines.size(); ++k)
    engine::print(stderr, "weft: rank {}: {:<20} {:>12}  {}\n", rank, lines[k][0], numbers[k], lines[k][1]);
}

} // namespace weft::api
