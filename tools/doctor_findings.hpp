// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// What weft doctor has looked at: a line for each subject, and below a line that is not all right its way
// out.

#include <string>

namespace weft::tool {

class findings {
public:
  // Rank 0 prints all, as does a process that no launcher started; another rank prints what is wrong, and its
  // number before it.
  explicit findings(std::string rank) : rank_(std::move(rank)), prints_all_(rank_.empty() || rank_ == "0") {}

  void good(const std::string& subject, const std::string& found);
  // It works, but slower or for less than it could.
  void note(const std::string& subject, const std::string& found, const std::string& way_out);
  void wrong(const std::string& subject, const std::string& found, const std::string& way_out);
  // An error of the library, whose line has the way out behind its last semicolon or colon.
  void wrong(const std::string& subject, const std::string& line) { wrong(subject, line, ""); }

  int notes() const { return notes_; }
  int wrongs() const { return wrongs_; }
  bool prints_all() const { return prints_all_; }

private:
  void say(const char* how, const std::string& subject, const std::string& found, const std::string& way_out);

  std::string rank_; // empty without a job
  bool prints_all_;
  int notes_ = 0, wrongs_ = 0;
};

// Of this host and this process: versions, settings, limits, memory, cores, networks, launchers.
void look_at_host(findings& f);

// Of the job that the environment announces: starts the library in it and copies between its ranks.
// Collective.
void look_at_job(findings& f);

} // namespace weft::tool
