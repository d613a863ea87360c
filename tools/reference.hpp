// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What the public headers say of each name: the comment before a group of declarations is about all of them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tool {

struct reference_entry {
  std::string header; // as a program includes it
  std::vector<std::string> names;
  std::vector<std::string> text; // lines of the comment, without its marks
  std::vector<std::string> declarations;
  bool in_cpp = false; // of namespace weft, in a header of C++
};

// What stands for T in the names of a call that a macro declares for many types, long ones first.
inline constexpr std::string_view letters_of_types[] = {
    "LDX", "ULL", "UC", "US", "UI", "UL", "LD", "LL", "CX", "DX", "C", "S", "I", "L", "F", "D", "B"};

class reference {
public:
  // Reads the headers of these folders, and of weft/ in each. Throws std::runtime_error if there are none.
  explicit reference(const std::vector<std::filesystem::path>& folders);

  // Those that declare the name, or tell of it where a macro declares it for many types (upc_all_reduceD).
  std::vector<const reference_entry*> of(const std::string& name) const;
  // What a header says before its first declaration, of all that follow. Null if there is no such header.
  const reference_entry* page_of(const std::string& header) const;

  const std::vector<reference_entry>& entries() const { return entries_; }
  const std::vector<reference_entry>& pages() const { return pages_; }
  std::vector<std::string> names() const;

private:
  std::vector<const reference_entry*> declaring(const std::string& name) const;
  void read(const std::filesystem::path& file, const std::string& as_included);

  std::vector<reference_entry> entries_;
  std::vector<reference_entry> pages_; // a header's own name is the first
};

} // namespace weft::tool
