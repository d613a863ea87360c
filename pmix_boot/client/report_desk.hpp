// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Where the ranks of a job and its launcher talk about waits that last: the launcher's desk, and the line
// that a rank has to it. A message is one packet. A rank says which rank it is, then either that it has
// waited too long (late) or what the launcher has asked for (rank_report); the launcher asks with an empty
// question mark.

#include "pmix_boot/client/rank_report.hpp"

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace weft::boot {

class report_desk {
public:
  // A socket in the job's directory, which is private to the user.
  report_desk(std::uint32_t ranks, const std::string& directory);
  ~report_desk();
  report_desk(const report_desk&) = delete;
  report_desk& operator=(const report_desk&) = delete;

  // What a rank must have in its environment to find the desk, "NAME=value".
  std::string environment() const;
  void collect(std::vector<pollfd>& waits) const;
  // Takes what has come. True if a rank has waited for too long since the last call.
  bool move();

  bool any_waits() const;
  void ask_all();
  bool all_answered() const;
  bool connected(std::uint32_t rank) const { return lines_[rank] >= 0; }
  // What came since ask_all().
  const std::optional<rank_report>& answer(std::uint32_t rank) const { return answers_[rank]; }

private:
  void accept_lines();

  std::string path_;
  int listener_ = -1;
  std::vector<int> strangers_; // have not said which rank they are
  std::vector<int> lines_;     // by rank
  std::vector<std::optional<rank_report>> answers_;
};

// The rank's end.
class report_line {
public:
  // Not connected if the launcher is another one.
  explicit report_line(std::uint32_t rank);
  ~report_line();
  report_line(const report_line&) = delete;
  report_line& operator=(const report_line&) = delete;

  int fd() const { return socket_; } // negative: there is no desk
  void say_late();
  void answer(const rank_report& r);
  // True if the desk has asked. A desk that is gone closes the line.
  bool asked();

private:
  void send(const std::string& text);
  int socket_ = -1;
};

} // namespace weft::boot
