// SPDX-License-Identifier: BSD-3-Clause
#include "tools/reference.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string_view>

namespace weft::tool {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ')
    s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}
// The word that ends before a place in a text, behind blanks.
std::string word_before(std::string_view s, std::size_t end) {
  while (end != 0 && s[end - 1] == ' ')
    --end;
  std::size_t begin = end;
  while (begin != 0 && is_word(s[begin - 1]))
    --begin;
  return std::string(s.substr(begin, end - begin));
}
std::string word_at(std::string_view s, std::size_t begin) {
  while (begin < s.size() && s[begin] == ' ')
    ++begin;
  std::size_t end = begin;
  while (end < s.size() && is_word(s[end]))
    ++end;
  return std::string(s.substr(begin, end - begin));
}

// A comment line without its marks.
std::string text_of(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view mark : {"/* ", "/*", " * ", "* ", "*", "// ", "//"})
    if (line.starts_with(mark) && !line.starts_with("*/")) {
      line.remove_prefix(mark.size());
      break;
    }
  if (line.ends_with("*/")) line.remove_suffix(2);
  while (!line.empty() && line.back() == ' ')
    line.remove_suffix(1);
  return std::string(line);
}

int braces_in(std::string_view s) {
  return static_cast<int>(std::ranges::count(s, '{') - std::ranges::count(s, '}'));
}

// What stands behind `template <...>` and a requires-clause in brackets.
std::string_view without_template(std::string_view s) {
  if (!s.starts_with("template")) return s;
  int depth = 0;
  for (std::size_t k = s.find('<'); k < s.size(); ++k) {
    depth += (s[k] == '<') - (s[k] == '>');
    if (depth == 0) return trimmed(s.substr(k + 1));
  }
  return {};
}

// The class, struct or enumeration that a line begins to declare. Empty if it does not.
std::string type_begun_by(std::string_view s) {
  s = without_template(s);
  for (const std::string_view kind : {"class ", "struct ", "enum class ", "union "}) {
    const std::size_t at = s.find(kind);
    if (at == s.npos || s.find_first_of("(<") < at) continue;
    s = trimmed(s.substr(at + kind.size()));
    for (const std::string_view mark : {"[[nodiscard]] ", "WEFT_EXPORT "})
      if (s.starts_with(mark)) s.remove_prefix(mark.size());
    return word_at(s, 0);
  }
  return {};
}

// A macro of the texts, or one that is told of with its meaning; the others only help to declare.
bool is_public_macro(std::string_view s, const std::string& name) {
  return !name.ends_with('_') && (!name.starts_with("WEFT_") || s.find(name + "(") == s.npos);
}

// What a line declares that no braces are around. A declaration may take several lines.
std::string name_in(std::string_view s) {
  if (s.starts_with("#define ")) {
    const std::string name = word_at(s, 8);
    return is_public_macro(s, name) ? name : "";
  }
  if (s.starts_with("} ") && s.ends_with(";")) return word_at(s, 2);
  if (s.starts_with("#") || s.starts_with("} ")) return {};
  for (const std::string_view no_declaration : {"using ", "friend ", "static_assert"})
    if (s.starts_with(no_declaration)) return {};
  if (std::string type = type_begun_by(s); !type.empty()) return type;
  s = without_template(s);
  if (const std::size_t pointer = s.find("(*"); pointer != s.npos) return word_at(s, pointer + 2);
  // A function's name is before its first parenthesis, behind those of attributes.
  if (const std::size_t attribute = s.find("__attribute__"); attribute != s.npos) {
    const std::size_t end = s.find("))", attribute);
    s.remove_prefix(end == s.npos ? s.size() : end + 2);
  }
  const std::size_t open = s.find('(');
  const std::string name = open == s.npos ? "" : word_before(s, open);
  return name == "requires" || name == "operator" || name == "decltype" ? "" : name;
}

// A line without what says nothing to a reader, WEFT_EXPORT and its like, and those behind it moved as far to
// the left: by `marks` columns.
std::string as_read(const std::string& line, std::size_t& marks) {
  const bool goes_on = marks != 0 && line.starts_with(std::string(marks, ' '));
  if (goes_on) return line.substr(marks);
  marks = 0;
  for (const std::string_view mark : {"WEFT_EXPORT ", "WEFT_HANDLE ", "[[gnu::always_inline]] inline "})
    if (std::string_view(line).substr(marks).starts_with(mark)) marks += mark.size();
  return line.substr(marks);
}

// The lines behind a comment that belong to it, without the bodies of functions.
void read_declarations(std::span<const std::string> lines, reference_entry& e) {
  int depth = 0;
  bool begins = true, body = false; // a declaration; of a function
  std::size_t exported = 0;         // columns of what a line goes on with
  for (const std::string& line : lines) {
    const std::string_view s = trimmed(line);
    if (s.starts_with("#if") || s.starts_with("#e") || s.starts_with("} // namespace")) continue;
    if (depth == 0) {
      std::string name = begins ? name_in(s) : "";
      if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
          std::ranges::find(e.names, name) == e.names.end())
        e.names.push_back(std::move(name));
      if (begins) body = type_begun_by(s).empty() && !s.starts_with("typedef");
      begins = s.ends_with(";") || s.ends_with("{") || s.ends_with("}") ||
               (s.starts_with("template") && s.ends_with(">")) ||
               (s.starts_with("requires ") && s.find('(') == s.npos) ||
               (s.starts_with("#define") && !s.ends_with("\\"));
    }
    if (depth == 0 || !body) e.declarations.push_back(as_read(line, exported));
    if (depth == 0 && body && s.ends_with(" {"))
      e.declarations.back().replace(e.declarations.back().size() - 2, 2, ";");
    depth = std::max(0, depth + braces_in(s));
    if (depth == 0 && s.ends_with("}")) begins = true;
  }
}

// Where the body of a function begins, or what initialises members in front of it. npos: nowhere.
std::size_t body_in(std::string_view s) {
  for (std::size_t k = s.starts_with(": ") ? 0 : 1; k < s.size(); ++k) {
    if (s[k] == '{' && s[k - 1] == ' ' && (k < 2 || s[k - 2] != '=')) return k - 1;
    if (s[k] == ':' && s.substr(k).starts_with(": ") && (k < 2 || s[k - 2] == ')' || s[k - 2] == 't'))
      return k == 0 ? 0 : k - 1;
  }
  return s.npos;
}

// The lines of a class, from the first to "};": what is public in it, without the bodies of its functions.
void read_members(std::span<const std::string> lines, reference_entry& e) {
  bool shown = lines.front().find("class ") == std::string::npos;
  bool body = false; // of a function
  int depth = 0;
  const auto add = [&](const std::string& line) {
    if (!line.empty() || !e.declarations.back().empty()) e.declarations.push_back(line);
  };
  for (const std::string& line : lines.first(lines.size() - 1)) {
    const std::string_view s = trimmed(line);
    const bool member = depth == 1 && shown && !body;
    if (depth == 1 && (s == "public:" || s == "private:" || s == "protected:")) {
      shown = s == "public:";
      if (shown) add(line);
    } else if (depth == 0 || (member && (s.starts_with("//") || s.empty() || !type_begun_by(s).empty()))) {
      add(line);
    } else if (member) {
      const std::size_t at = body_in(s);
      if (at != 0) add(line.substr(0, at == s.npos ? at : at + line.size() - s.size()));
      if (at != s.npos) e.declarations.back() += ';';
      body = at != s.npos;
    }
    depth += braces_in(s);
    if (depth <= 1 && (s.ends_with("}") || s.ends_with(";"))) body = false;
  }
  if (e.declarations.back().empty()) e.declarations.pop_back();
  e.declarations.push_back(lines.back());
}

bool begins_comment(std::string_view line) {
  return line.starts_with("/*") || line.starts_with("//");
}

} // namespace

reference::reference(const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& headers : folders)
    for (const char* const folder : {"", "weft/"}) {
      std::vector<std::filesystem::path> files;
      if (std::error_code none; std::filesystem::is_directory(headers / folder, none))
        for (const auto& entry : std::filesystem::directory_iterator(headers / folder)) {
          const std::string name = entry.path().filename().string();
          const bool ours = *folder != '\0' || name.starts_with("upc");
          if (ours && name != "empty.h" && (name.ends_with(".h") || name.ends_with(".hpp")))
            files.push_back(entry.path());
        }
      std::ranges::sort(files);
      for (const std::filesystem::path& file : files)
        read(file, folder + file.filename().string());
    }
  if (!entries_.empty()) return;
  throw std::runtime_error("there are no headers of weft in " + folders.front().string());
}

void reference::read(const std::filesystem::path& file, const std::string& as_included) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line.find("SPDX-License-Identifier") == line.npos ? line : "");
  const bool in_cpp = as_included.ends_with(".hpp");
  reference_entry page{as_included, {as_included}, {}, {}, in_cpp};
  bool hidden = false; // within namespace detail
  for (std::size_t k = 0; k < lines.size();) {
    if (lines[k].starts_with("namespace detail") || lines[k].starts_with("namespace weft::detail"))
      hidden = true;
    if (lines[k].starts_with("} // namespace detail")) hidden = false;
    if (!begins_comment(lines[k])) {
      // Without a comment of their own: calls whose comment is that of NAME without _team, and macros, whose
      // meaning the header says.
      if (lines[k].starts_with("#define upc_")) page.names.push_back(word_at(lines[k], 8));
      if (!lines[k].starts_with("WEFT_EXPORT ")) {
        ++k;
        continue;
      }
    }
    reference_entry e{as_included, {}, {}, {}, in_cpp};
    const bool commented = begins_comment(lines[k]), block = lines[k].starts_with("/*");
    for (bool more = commented; more && k < lines.size(); ++k) {
      e.text.push_back(text_of(lines[k]));
      more = block ? lines[k].find("*/") == std::string::npos
                   : k + 1 < lines.size() && begins_comment(lines[k + 1]);
    }
    const std::size_t first = k;
    while (k < lines.size() && !lines[k].empty() && !begins_comment(lines[k]) &&
           !lines[k].starts_with("namespace ") && !lines[k].starts_with("} // namespace"))
      ++k;
    read_declarations(std::span(lines).subspan(first, k - first), e);
    const auto begun =
        std::find_if(lines.begin() + static_cast<long>(first), lines.begin() + static_cast<long>(k),
                     [](const std::string& line) { return !type_begun_by(line).empty(); });
    if (in_cpp && begun != lines.begin() + static_cast<long>(k) && begun->ends_with("{")) {
      const auto end = std::ranges::find_if(begun, lines.end(),
                                            [](const std::string& line) { return line.starts_with("};"); });
      e.declarations.clear();
      read_members({begun, std::min(end + 1, lines.end())}, e);
      k = static_cast<std::size_t>(end - lines.begin());
    }
    if (hidden) continue;
    // "upc_all_reduceT: ...": of calls that a macro declares, with T for the letters of a type.
    for (const std::string& line : e.text)
      if (const std::string first = word_at(line, 0);
          e.names.empty() && first.ends_with('T') && line.starts_with(first + ":"))
        page.names.push_back(first);
    if (e.names.empty())
      page.text.insert(page.text.end(), e.text.begin(), e.text.end());
    else
      entries_.push_back(std::move(e));
  }
  pages_.push_back(std::move(page));
}

std::vector<const reference_entry*> reference::declaring(const std::string& name) const {
  std::vector<const reference_entry*> found;
  for (const std::vector<reference_entry>* const all : {&entries_, &pages_})
    for (const reference_entry& e : *all)
      if (std::ranges::find(e.names, name) != e.names.end()) found.push_back(&e);
  return found;
}

std::vector<const reference_entry*> reference::of(const std::string& name) const {
  std::string bare = name.starts_with("weft::") ? name.substr(6) : name;
  std::vector<const reference_entry*> found = declaring(bare);
  // What is said of a call of a team or of a list of threads is said of the call of all.
  for (const std::string_view among : {"_team", "_threads"})
    if (bare.ends_with(among)) {
      bare.resize(bare.size() - among.size());
      const auto of_all = declaring(bare);
      if (found.empty() || found.front()->text.empty())
        found.insert(found.end(), of_all.begin(), of_all.end());
    }
  // Of a member all that is said of its class.
  if (const std::size_t scope = bare.rfind("::"); found.empty() && scope != bare.npos) {
    const std::string member = bare.substr(scope + 2) + "(";
    found = declaring(bare.substr(0, scope));
    std::erase_if(found, [&](const reference_entry* e) {
      return std::ranges::none_of(e->declarations, [&](const std::string& line) {
        const std::size_t at = line.find(member);
        return at != line.npos && at != 0 && !is_word(line[at - 1]);
      });
    });
  }
  for (const std::string_view letters : letters_of_types)
    if (found.empty() && bare.ends_with(letters))
      found = declaring(bare.substr(0, bare.size() - letters.size()) + "T");
  return found;
}

const reference_entry* reference::page_of(const std::string& header) const {
  const auto found = std::ranges::find(pages_, header, &reference_entry::header);
  return found == pages_.end() ? nullptr : &*found;
}

std::vector<std::string> reference::names() const {
  std::vector<std::string> all;
  for (const reference_entry& e : entries_)
    for (const std::string& name : e.names)
      all.push_back(e.in_cpp ? "weft::" + name : name);
  return all;
}

} // namespace weft::tool
