// SPDX-License-Identifier: BSD-3-Clause
// All programs of the tests that run as jobs, in one executable: a suite alone, a program, or a session of
// suites.
#include "tests/jobs/session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <weft/weft.hpp>

namespace weft::jobs {

namespace {

// The number of letters to change, add or leave out.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void print_names() {
  for (const auto* table : {&suites, &programs})
    for (const named_entry& each : *table)
      std::printf("%-8s %s\n", table == &suites ? "suite" : "program", each.name);
}

// A link to this executable with the name of a suite or program runs that.
std::string name_of_link(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  const std::string name = slash == nullptr ? path : slash + 1;
  for (const auto* table : {&suites, &programs})
    for (const named_entry& each : *table)
      if (each.name == name) return name;
  return "";
}

constexpr const char* usage =
    R"(usage: weft_jobs NAME [ARGUMENT...]       the suite or program of that name, as a job of its own
       weft_jobs --session LIST FOLDER   the suites of LIST one after the other, output and progress to FOLDER
       weft_jobs --list                  the names of all
)";

} // namespace

entry find(const std::vector<named_entry>& table, const std::string& name) {
  const auto found = std::ranges::find_if(table, [&](const named_entry& e) { return e.name == name; });
  if (found != table.end()) return found->call;
  std::vector<named_entry> near = table;
  const auto worth = std::min<std::size_t>(3, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(worth), {},
                            [&](const named_entry& e) { return distance(e.name, name); });
  std::fprintf(stderr, "weft_jobs: '%s' is not the name of a suite or program; the nearest:", name.c_str());
  for (std::size_t k = 0; k < worth; ++k)
    std::fprintf(stderr, " %s", near[k].name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

} // namespace weft::jobs

int main(int argc, char** argv) {
  using namespace weft::jobs;
  const std::string linked = name_of_link(argv[0]);
  if (linked.empty()) {
    --argc;
    ++argv;
  }
  const std::string what = !linked.empty() ? linked : argc > 0 ? argv[0] : "--help";
  if (what == "--list") return print_names(), 0;
  if (what == "--help") return std::fputs(usage, stdout), 0;
  for (const named_entry& program : programs)
    if (program.name == what) return program.call(argc, argv);
  if (what == "--session" && argc != 3) return std::fputs(usage, stderr), 2;

  if (what == "--session") {
    weft_init(nullptr, nullptr);
    play(read_list(argv[1]), argv[2]);
    weft_finalize();
    return 0;
  }
  const entry suite = find(suites, what);
  weft_init(nullptr, nullptr);
  const int status = call(suite, {argv, argv + argc});
  weft_finalize();
  return status;
}
