// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Brings the output of all ranks to the launcher's stdout and stderr in whole lines, which the launcher's own
// lines do not cut either. Never blocks: it says what to poll for, and stops reading from the ranks while the
// reader of the launcher's own output is behind.

#include <cstdint>
#include <poll.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace weft::boot {

class line_output {
public:
  enum class stream { output, error };

  // Tagged lines begin with "[rank] ". With one rank and no tags, bytes pass as they come.
  line_output(std::uint32_t ranks, bool tagged);
  ~line_output();
  line_output(const line_output&) = delete;
  line_output& operator=(const line_output&) = delete;

  // The end of a new pipe for the rank to write to; the caller closes it once the rank has it.
  int open(std::uint32_t rank, stream where);
  // A line of the launcher's own, on stderr.
  void say(const std::string& line);
  // Of a rank that has ended: takes what it has written, so that it comes before what is said of its end.
  void take_last_of(std::uint32_t rank);
  // Whether a rank has begun a line that it has not ended yet.
  bool within_lines() const;

  // Appends what to wait for.
  void collect(std::vector<pollfd>& waits) const;
  // Moves what can be moved without blocking; returns whether anything moved.
  bool move();
  // What cannot be written, and why; empty if all can. A reader that is gone is the affair of the ranks.
  std::string failure() const;
  // After the last rank is gone: true when nothing is left in the pipes or here.
  bool drained() const;
  // Gives up what was not written yet.
  void discard();

private:
  struct source {
    int fd;
    std::uint32_t rank;
    stream where;
    std::string partial;
  };
  struct sink {
    int fd;
    std::string pending;
    const bool terminal = isatty(fd) != 0;
    std::size_t written = 0;
    int broken = 0; // the error of the system
    bool ends_line = true;

    void add(std::string_view text);
    std::size_t backlog() const { return pending.size() - written; }
  };

  sink& sink_of(stream where) { return sinks_[where == stream::error && !joined_]; }
  const sink& sink_of(stream where) const { return sinks_[where == stream::error && !joined_]; }
  bool read_from(source& from);
  void finish(source& from);
  void forward_lines(source& from);
  void append(sink& to, std::uint32_t rank, std::string_view line);
  bool flush(sink& to);

  const bool raw_;
  const bool tagged_;
  // Both streams are one terminal, file or pipe: one of them would be written in the middle of the other's
  // lines.
  const bool joined_;
  std::vector<source> sources_;
  sink sinks_[2];
};

} // namespace weft::boot
