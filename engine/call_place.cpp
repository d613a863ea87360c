// SPDX-License-Identifier: BSD-3-Clause
#include "engine/call_place.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits>
#include <link.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>
#include <vector>

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
bool is_library(const loaded& file) noexcept {
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

// Where functions of the library are in a program, by the program's own table of symbols, which `strip`
// removes: those of the headers, and all of them where the library is linked statically.
class linked_functions {
public:
  linked_functions(const loaded& file, bool all) noexcept : moved_by_(file.moved_by), of_c_(all) {
    try {
      read(path_of(file).c_str());
    } catch (const std::exception&) { // for want of memory
    }
  }
  bool known() const noexcept { return !all_.empty(); }
  bool have(const loaded& file, const void* address) const noexcept {
    if (file.moved_by != moved_by_) return false;
    const std::uintptr_t place = place_in(file, address);
    const auto behind = std::ranges::upper_bound(all_, place, {}, &function::begin);
    return behind != all_.begin() && place < (behind - 1)->end;
  }

private:
  struct function {
    std::uintptr_t begin, end;
  };

  // Those of the namespace; where all are there those of the C interface too, and of the C++ library, which
  // stand between them. (Elsewhere a function of that may have one of the program in it.)
  bool is_ours(std::string_view name) const noexcept {
    constexpr std::string_view beginnings[] = {"_ZN4weft", "_ZNK4weft", "_ZZN4weft", "_ZZNK4weft", "_ZNSt",
                                               "_ZNKSt",   "_ZSt",      "upc_",      "cray_upc_",  "weft_"};
    const std::size_t count = of_c_ ? std::size(beginnings) : 4;
    return std::ranges::any_of(std::span(beginnings).first(count),
                               [&](auto b) { return name.starts_with(b); }) &&
           name != "upc_main" && !name.starts_with("_ZN4weft5tests");
  }
  void read(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file < 0) return;
    void* const at = fstat(file, &about) != 0 ? MAP_FAILED
                                              : mmap(nullptr, static_cast<std::size_t>(about.st_size),
                                                     PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (at == MAP_FAILED) return;
    const std::span bytes(static_cast<const std::byte*>(at), static_cast<std::size_t>(about.st_size));
    try {
      take(bytes);
    } catch (const std::exception&) {
      all_.clear();
    }
    munmap(at, bytes.size());
  }
  // `count` of T from `offset` on, none if the file is shorter.
  template <class T>
  static std::span<const T> part(std::span<const std::byte> file, std::size_t offset, std::size_t count) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T)) return {};
    return {reinterpret_cast<const T*>(file.data() + offset), count};
  }
  void take(std::span<const std::byte> file) {
    const auto head = part<ElfW(Ehdr)>(file, 0, 1);
    if (head.empty()) return;
    const auto sections = part<ElfW(Shdr)>(file, head[0].e_shoff, head[0].e_shnum);
    for (const auto& section : sections) {
      if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
      const auto names =
          part<char>(file, sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size);
      if (names.empty() || names.back() != '\0') continue;
      for (const auto& symbol : part<ElfW(Sym)>(file, section.sh_offset, section.sh_size / sizeof(ElfW(Sym))))
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_name < names.size() &&
            is_ours(names.data() + symbol.st_name))
          all_.push_back({symbol.st_value, symbol.st_value + symbol.st_size});
    }
    std::ranges::sort(all_, {}, &function::begin);
  }

  std::uintptr_t moved_by_;
  bool of_c_;
  std::vector<function> all_;
};

const loaded& own_file() noexcept {
  static const loaded file = file_of(reinterpret_cast<const void*>(&hex));
  return file;
}
const linked_functions& linked(const loaded& program) noexcept {
  static const linked_functions* const all =
      new linked_functions(program, !is_library(own_file())); // never destroyed
  return *all;
}

bool is_ours(const void* address) noexcept {
  const loaded file = file_of(address);
  return is_library(file) || (is_program(file) && linked(file).have(file, address));
}

struct walk {
  std::array<const void*, 6>& at;
  std::uint32_t& count;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  auto& w = *static_cast<walk*>(argument);
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  if (w.count == 0 && is_ours(address)) return _URC_NO_REASON;
  w.at[w.count++] = address;
  return w.count == w.at.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

[[gnu::noinline]] call_place call_place::here() noexcept {
  call_place place;
  if (!is_library(own_file()) && !linked(own_file()).known()) return place;
  walk w{place.at_, place.count_};
  _Unwind_Backtrace(step, &w);
  return place;
}

// Of the file that the innermost one is in.
std::string call_place::text() const {
  const loaded file = count_ == 0 ? loaded{} : file_of(at_[0]);
  if (file.path == nullptr) return "";
  std::string text = "[";
  text.append(path_of(file)).append(hex(place_in(file, at_[0])));
  for (std::uint32_t k = 1; k != count_ && file_of(at_[k]).moved_by == file.moved_by; ++k)
    text.append(" ").append(hex(place_in(file, at_[k])));
  return text.append("]");
}

std::uint32_t call_place::in_program() const noexcept {
  const loaded file = count_ == 0 ? loaded{} : file_of(at_[0]);
  if (!is_program(file)) return 0;
  const std::uintptr_t place = place_in(file, at_[0]);
  return place <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(place) : 0;
}

std::string call_place::text_of(std::uint32_t in_program) {
  if (in_program == 0) return "";
  std::string text = "[";
  return text.append(path_of({"", 0})).append(hex(in_program)).append("]");
}

} // namespace weft::engine
