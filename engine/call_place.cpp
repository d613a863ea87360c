// SPDX-License-Identifier: BSD-3-Clause
#include "engine/call_place.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <link.h>
#include <string_view>
#include <unistd.h>
#include <unwind.h>

namespace weft::engine {

namespace {

// A file that was loaded, and what the addresses in it were moved by.
struct loaded {
  const char* path = nullptr; // empty: the program
  std::uintptr_t moved_by = 0;
};

loaded file_of(const void* address) noexcept {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr)
    return {};
  return {map->l_name, map->l_addr};
}

bool is_program(const loaded& file) noexcept {
  return file.path != nullptr && *file.path == '\0';
}
// libweft, and the libraries over it: libweft-upc, libweft-mpi.
bool is_ours(const loaded& file) noexcept {
  if (file.path == nullptr) return false;
  const std::string_view path = file.path;
  return path.substr(path.rfind('/') + 1).starts_with("libweft");
}

// A call, by the address behind it.
std::uintptr_t place_in(const loaded& file, const void* behind) noexcept {
  return reinterpret_cast<std::uintptr_t>(behind) - 1 - file.moved_by;
}

std::string hex(std::uintptr_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "+0x%zx", value);
  return text.data();
}

std::string path_of(const loaded& file) {
  if (!is_program(file)) return file.path;
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? "program" : std::string(path.data(), static_cast<std::size_t>(length));
}

struct walk {
  std::array<const void*, 6>& at;
  std::uint32_t& count;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  auto& w = *static_cast<walk*>(argument);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  if (w.count == 0 && is_ours(file_of(address))) return _URC_NO_REASON;
  w.at[w.count++] = address;
  return w.count == w.at.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

[[gnu::noinline]] call_place call_place::here() noexcept {
  call_place place;
  if (!is_ours(file_of(reinterpret_cast<const void*>(&hex)))) return place;
  walk w{place.at_, place.count_};
  _Unwind_Backtrace(step, &w);
  return place;
}

// Of the file that the innermost one is in.
std::string call_place::text() const {
  const loaded file = count_ == 0 ? loaded{} : file_of(at_[0]);
  if (file.path == nullptr) return "";
  std::string text = "[" + path_of(file) + hex(place_in(file, at_[0]));
  for (std::uint32_t k = 1; k != count_ && file_of(at_[k]).moved_by == file.moved_by; ++k)
    text += " " + hex(place_in(file, at_[k]));
  return text + "]";
}

std::uint32_t call_place::in_program() const noexcept {
  const loaded file = count_ == 0 ? loaded{} : file_of(at_[0]);
  if (!is_program(file)) return 0;
  const std::uintptr_t place = place_in(file, at_[0]);
  return place <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(place) : 0;
}

std::string call_place::text_of(std::uint32_t in_program) {
  return in_program == 0 ? "" : "[" + path_of({"", 0}) + hex(in_program) + "]";
}

} // namespace weft::engine
