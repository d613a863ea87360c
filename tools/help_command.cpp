// SPDX-License-Identifier: BSD-3-Clause
// weft help NAME: what the public headers say of a call; and the manual pages, which are made of the same.

#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "tools/command.hpp"
#include "tools/reference.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace weft::tool {

namespace {

namespace fs = std::filesystem;

namespace fs = std::filesystem;

struct help_options {
  std::string name;
  std::vector<fs::path> headers;
  std::string pages;
};

// Where they were installed, in one folder, or those of the sources that this tool was built from.
std::vector<fs::path> headers_beside_this_tool() {
  char self[PATH_MAX];
  if (realpath("/proc/self/exe", self) == nullptr)
    throw std::runtime_error("cannot find this program's folder");
  const fs::path folder = fs::path(self).parent_path(), sources = folder / "../../..";
  std::error_code none;
  if (fs::exists(folder / "../include/upc_collective_ext.h", none)) return {folder / "../include"};
  if (fs::exists(sources / "include/upc_collective_ext.h", none))
    return {sources / "include", sources / "mpi/include", sources / "upc_runtime/include"};
  throw std::runtime_error(
      "the headers are not beside this tool: install them (libweft-dev), or name their folder by "
      "--headers");
}

void print(const reference& all, const reference_entry& e) {
  engine::print(stdout, "#include <{}>\n\n", e.header);
  for (const std::string& line : e.declarations)
    engine::print(stdout, "    {}\n", line);
  if (!e.declarations.empty()) engine::print(stdout, "\n");
  for (const std::string& line : e.text)
    engine::print(stdout, "{}\n", line);
  const reference_entry* const page = all.page_of(e.header);
  if (page != nullptr && page != &e && !page->text.empty())
    engine::print(stdout, "\nWhat holds for all of {}: weft help {}\n", e.header, e.header);
}

// A line as roff reads it: no command, no escape.
std::string roff(const std::string& line) {
  std::string out = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
  for (const char c : line)
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return out;
}

// Indented lines and tables stay as they are, the others are filled.
void write_text(std::ofstream& out, const std::vector<std::string>& text) {
  bool as_it_is = false;
  for (const std::string& line : text) {
    const bool indented = line.starts_with("  ");
    if (indented != as_it_is) out << (indented ? ".nf\n" : ".fi\n");
    as_it_is = indented;
    out << (line.empty() ? ".PP" : roff(line)) << "\n";
  }
  if (as_it_is) out << ".fi\n";
}

std::string page_name(const reference_entry& e, const std::string& name) {
  return e.in_cpp ? "weft::" + name : name;
}

void write_page(const fs::path& folder, const reference& all, const reference_entry& e) {
  const std::string first = page_name(e, e.names.front());
  if (fs::exists(folder / (first + ".3"))) return; // told of already, in another header
  const std::vector<const reference_entry*> told = all.of(e.names.front());
  const std::vector<std::string>& text = e.text.empty() && !told.empty() ? told.back()->text : e.text;
  std::ofstream out(folder / (first + ".3"));
  std::string names;
  for (const std::string& name : e.names)
    names += (names.empty() ? "" : ", ") + page_name(e, name);
  std::string summary;
  for (const std::string& line : text) {
    summary += (summary.empty() ? "" : " ") + line;
    if (const std::size_t end = summary.find_first_of(".:;"); end != summary.npos) {
      summary.resize(end);
      break;
    }
  }
  out << ".TH \"" << first << "\" 3 \"\" weft \"Library Functions\"\n.SH NAME\n"
      << roff(names) << " \\- " << roff(summary) << "\n.SH SYNOPSIS\n.nf\n#include <" << e.header << ">\n\n";
  for (const std::string& line : e.declarations)
    out << roff(line) << "\n";
  out << ".fi\n.SH DESCRIPTION\n";
  write_text(out, text);
  if (const reference_entry* const page = all.page_of(e.header);
      page != nullptr && !page->text.empty() && page->text != text) {
    out << ".SH OF ALL IN " << e.header << "\n";
    write_text(out, page->text);
  }
  out << ".SH SEE ALSO\n.BR weft (1)\n";
  const auto refer = [&](const std::string& name) {
    if (const fs::path page = folder / (name + ".3"); !fs::exists(page))
      std::ofstream(page) << ".so man3/" << first << ".3\n";
  };
  for (const std::string& name : e.names) {
    refer(page_name(e, name));
    if (!name.starts_with("upc_all_") || !name.ends_with('T')) continue;
    for (const std::string_view letters : letters_of_types)
      for (const char* const among : {"", "_team"})
        refer(name.substr(0, name.size() - 1) + std::string(letters) + among);
  }
}

void write_pages(const reference& all, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const reference_entry& e : all.entries())
    write_page(folder, all, e);
  for (reference_entry e : all.pages())
    if (e.names.size() > 1) {
      e.names.erase(e.names.begin());
      write_page(folder, all, e);
    }
}

void answer(const help_options& o) {
  const reference all(o.headers.empty() ? headers_beside_this_tool() : o.headers);
  if (!o.pages.empty()) return write_pages(all, o.pages);
  if (o.name.empty()) throw std::runtime_error("name a call, as in weft help upc_all_exchange, or a header");
  if (const reference_entry* const page = all.page_of(o.name)) return print(all, *page);
  const std::vector<const reference_entry*> found = all.of(o.name);
  if (found.empty()) {
    const std::string meant = engine::nearest(o.name, all.names());
    throw std::runtime_error(
        "no header declares " + o.name +
        (meant.empty() ? "; docs/functions.md lists what there is" : "; did you mean " + meant + "?"));
  }
  for (const reference_entry* const e : found) {
    if (e != found.front()) engine::print(stdout, "\n");
    print(all, *e);
  }
}

} // namespace

void add_help_command(CLI::App& app, int& status) {
  auto options = std::make_shared<help_options>();
  CLI::App* help =
      app.add_subcommand("help", "Print what the headers say of a call, a type or a whole header");
  help->add_option("name", options->name, "As upc_all_exchange, weft::shared_array or upc_collective.h");
  help->add_option("--headers", options->headers,
                   "The folders of the headers, where they are not beside the tool");
  help->add_option("--man", options->pages,
                   "Write a manual page for each name into this folder, which is made anew");
  help->callback([options, &status] {
    try {
      answer(*options);
    } catch (const std::exception& e) {
      std::cerr << "weft help: " << e.what() << "\n";
      status = 2;
    }
  });
}

} // namespace weft::tool
