// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

// Runs suites one after the other in one job.
namespace weft::jobs {

using entry = int (*)(int argc, char** argv);
struct named_entry {
  const char* name;
  entry call;
};

// CMake writes this table; the suites first.
extern const std::vector<named_entry> suites, programs;

// A run of a suite, a line of a session's list: a number, the name of the suite, its arguments, with tabs
// between.
struct suite_run {
  std::string number;
  std::vector<std::string> words; // the name and the arguments
};
std::vector<suite_run> read_list(const std::string& file);

// Plays the runs. What a rank prints in the run of number K goes to FOLDER/K.RANK. Rank 0 keeps
// FOLDER/progress: "begin K" before the run, "end K STATUS" when all ranks have ended it, where STATUS is 0
// if it has passed on all. A rank that fails makes FOLDER/failed.K at once, for others may wait for it in the
// suite.
void play(const std::vector<suite_run>& runs, const std::string& folder);

// What a suite returns, and 1 if it throws.
int call(entry suite, const std::vector<std::string>& words);

// The one of that name; none: prints the nearest names and ends the process with status 2.
entry find(const std::vector<named_entry>& table, const std::string& name);

} // namespace weft::jobs
