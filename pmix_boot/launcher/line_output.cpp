// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/line_output.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace weft::boot {

namespace {

constexpr std::size_t read_size = 64 * 1024;
// Beyond this backlog the ranks wait, as they would on a full pipe.
constexpr std::size_t backlog_limit = 1024 * 1024;
// A longer line is cut; nothing else would bound the memory for a rank that writes no newline.
constexpr std::size_t longest_line = 1024 * 1024;

bool ready(int fd, short what) {
  pollfd wait{fd, what, 0};
  return poll(&wait, 1, 0) == 1 && wait.revents != 0;
}

bool same_file(int one, int other) {
  struct stat a, b;
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

} // namespace

void line_output::sink::add(std::string_view text) {
  if (text.empty()) return;
  pending += text;
  ends_line = text.back() == '\n';
}

line_output::line_output(std::uint32_t ranks, bool tagged)
    : raw_(ranks == 1 && !tagged), tagged_(tagged),
      joined_(same_file(STDOUT_FILENO, STDERR_FILENO)), sinks_{{STDOUT_FILENO, {}}, {STDERR_FILENO, {}}} {}

line_output::~line_output() {
  for (const source& from : sources_)
    close(from.fd);
}

int line_output::open(std::uint32_t rank, stream where) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  // Only our end: the rank gets a pipe as any program expects it.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.push_back({ends[0], rank, where, {}});
  return ends[1];
}

void line_output::say(const std::string& line) {
  sink& to = sink_of(stream::error);
  to.add((to.ends_line ? "" : "\n") + line + "\n");
}

void line_output::take_last_of(std::uint32_t rank) {
  for (source& from : sources_) {
    if (from.rank != rank) continue;
    // No more than a pipe holds: what the rank has started may still write.
    for (std::size_t taken = 0; taken < longest_line && from.fd >= 0 && read_from(from);)
      taken += read_size;
  }
  std::erase_if(sources_, [](const source& from) { return from.fd < 0; });
}

bool line_output::within_lines() const {
  return std::ranges::any_of(sources_, [](const source& from) { return !from.partial.empty(); });
}

void line_output::collect(std::vector<pollfd>& waits) const {
  for (const source& from : sources_)
    if (sink_of(from.where).backlog() < backlog_limit) waits.push_back({from.fd, POLLIN, 0});
  for (const sink& to : sinks_)
    if (to.backlog() > 0) waits.push_back({to.fd, POLLOUT, 0});
}

bool line_output::move() {
  bool moved = false;
  for (source& from : sources_)
    if (sink_of(from.where).backlog() < backlog_limit) moved |= read_from(from);
  std::erase_if(sources_, [](const source& from) { return from.fd < 0; });
  for (sink& to : sinks_)
    moved |= flush(to);
  return moved;
}

std::string line_output::failure() const {
  for (const sink& to : sinks_) {
    if (to.broken == 0 || to.broken == EPIPE) continue;
    const bool output = to.fd == STDOUT_FILENO;
    std::string text = output ? "cannot write the ranks' output: " : "cannot write the ranks' errors: ";
    return text.append(std::strerror(to.broken)).append("; send it to another place");
  }
  return {};
}

bool line_output::drained() const {
  for (const source& from : sources_)
    if (ready(from.fd, POLLIN)) return false;
  return sinks_[0].backlog() == 0 && sinks_[1].backlog() == 0;
}

void line_output::discard() {
  for (source& from : sources_)
    close(from.fd);
  sources_.clear();
  for (sink& to : sinks_) {
    to.pending.clear();
    to.written = 0;
  }
}

bool line_output::read_from(source& from) {
  char buffer[read_size];
  const ssize_t size = sink_of(from.where).broken != 0 ? 0 : read(from.fd, buffer, sizeof buffer);
  if (size < 0) return false;
  if (size > 0) {
    from.partial.append(buffer, static_cast<std::size_t>(size));
    forward_lines(from);
    return true;
  }
  finish(from);
  return true;
}

// The rank closed its end, or no rank reads ours: then the rank gets the broken pipe that it would have had.
void line_output::finish(source& from) {
  if (!from.partial.empty()) append(sink_of(from.where), from.rank, from.partial + "\n");
  close(from.fd);
  from.fd = -1;
}

void line_output::forward_lines(source& from) {
  std::size_t end = raw_ ? from.partial.size() : from.partial.rfind('\n') + 1;
  if (end == 0 && from.partial.size() >= longest_line) {
    from.partial += '\n';
    end = from.partial.size();
  }
  std::string_view complete(from.partial.data(), end);
  if (!tagged_) {
    sink_of(from.where).add(complete);
  } else {
    while (!complete.empty()) {
      const std::size_t length = complete.find('\n') + 1;
      append(sink_of(from.where), from.rank, complete.substr(0, length));
      complete.remove_prefix(length);
    }
  }
  from.partial.erase(0, end);
}

void line_output::append(sink& to, std::uint32_t rank, std::string_view line) {
  if (tagged_) to.add("[" + std::to_string(rank) + "] ");
  to.add(line);
}

bool line_output::flush(sink& to) {
  bool moved = false;
  // A pipe that polls writable takes PIPE_BUF bytes without blocking; the other kinds of file do not care.
  while (to.backlog() > 0 && ready(to.fd, POLLOUT)) {
    const std::size_t size = std::min<std::size_t>(to.backlog(), PIPE_BUF);
    const ssize_t written = write(to.fd, to.pending.data() + to.written, size);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) break;
    moved = true;
    if (written < 0) {
      // A terminal that is closed has no reader. SIGHUP, which ends the job, may come behind this.
      to.broken = to.terminal && errno == EIO ? EPIPE : errno;
      to.written = to.pending.size();
    } else {
      to.written += static_cast<std::size_t>(written);
    }
  }
  if (to.backlog() == 0) {
    to.pending.clear();
    to.written = 0;
  }
  return moved;
}

} // namespace weft::boot
