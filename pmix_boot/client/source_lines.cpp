// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/source_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace weft::boot {

namespace {

using moment = std::chrono::steady_clock::time_point;
constexpr std::chrono::seconds longest_wait{5};

// Starts it with its output in a pipe and without what is loaded into this program. The signals that end a
// job are sent to the process group of a rank, which may still write its last line: they are blocked, all
// others are not.
std::optional<pid_t> start_reader(std::vector<std::string> words, int output) {
  std::vector<char*> arguments, environment;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (char** setting = environ; *setting != nullptr; ++setting)
    if (!std::string_view(*setting).starts_with("LD_PRELOAD=")) environment.push_back(*setting);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t ending;
  sigemptyset(&ending);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    sigaddset(&ending, signal);
  posix_spawnattr_setsigmask(&how, &ending);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int reason = posix_spawnp(&child, arguments[0], &files, &how, arguments.data(), environment.data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return reason == 0 ? std::optional(child) : std::nullopt;
}

std::string read_until(int input, moment end) {
  std::string text;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd waits{input, POLLIN, 0};
    if (left <= 0 || (::poll(&waits, 1, static_cast<int>(left)) < 0 && errno != EINTR)) return text;
    if (waits.revents == 0) continue;
    std::array<char, 4096> part{};
    const ssize_t got = read(input, part.data(), part.size());
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// What it prints, nothing if it cannot be started.
std::string output_of(std::vector<std::string> words, moment end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const std::optional<pid_t> child = start_reader(std::move(words), ends[1]);
  close(ends[1]);
  std::string text;
  if (child) {
    text = read_until(ends[0], end);
    kill(*child, SIGKILL); // it has ended, or is late
    while (waitpid(*child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return text;
}

bool in_a_header_of_ours(const std::string& line) {
  return line.find("/include/weft/") != std::string::npos || line.find("/include/upc") != std::string::npos;
}

// "solver.c:42" of what addr2line -i prints: for each address the innermost function that was inlined first.
// A line of a header is better than none.
std::string line_in(const std::string& printed) {
  std::istringstream lines(printed);
  std::string of_header;
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.rfind(':');
    if (colon == std::string::npos || line.starts_with("??")) continue;
    const std::string number = line.substr(colon + 1, line.find(' ', colon) - colon - 1);
    if (number.empty() || number == "?" || number == "0") continue;
    const auto name = line.rfind('/', colon);
    std::string found = line.substr(name + 1, colon - name - 1) + ":" + number;
    if (!in_a_header_of_ours(line)) return found;
    of_header = std::move(found);
  }
  return of_header;
}

std::string how_to_ask(const std::string& file, const std::string& place) {
  return file.substr(file.rfind('/') + 1) + "+" + place + " [addr2line -e " + file + " " + place + "]";
}

std::string source_line(const std::string& file, const std::vector<std::string>& places, moment end) {
  std::vector<std::string> command = {"addr2line", "-i", "-e", file};
  command.insert(command.end(), places.begin(), places.end());
  const std::string found =
      std::chrono::steady_clock::now() < end ? line_in(output_of(std::move(command), end)) : "";
  return found.empty() ? how_to_ask(file, places.front()) : found;
}

// What addr2line printed, by file and places. It is never destroyed: errors come up to the end of the
// process.
struct kept_lines {
  std::mutex held; // also while addr2line runs: another thread may ask for the same
  std::map<std::pair<std::string, std::vector<std::string>>, std::string> lines;
};
kept_lines& all_kept() {
  static kept_lines* const all = new kept_lines;
  return *all;
}

// Takes the "+0x12 +0x34" at the end of a place off it.
std::vector<std::string> addresses_of(std::string_view& place) {
  constexpr std::string_view begins = "+0x", digits = "0123456789abcdef";
  std::vector<std::string> found;
  for (;;) {
    const std::size_t plus = place.rfind(begins);
    if (plus == std::string_view::npos || plus + begins.size() == place.size() ||
        place.find_first_not_of(digits, plus + begins.size()) != std::string_view::npos)
      break;
    found.emplace_back(place.substr(plus + 1));
    place = place.substr(0, plus);
    if (place.ends_with(' ')) place.remove_suffix(1);
  }
  std::ranges::reverse(found);
  return found;
}

// The text with what `line` makes of a file and of places in it.
template <class Line> std::string with_lines(const std::string& text, Line line) {
  std::string all;
  std::size_t done = 0;
  for (std::size_t at = text.find("[/"); at != std::string::npos; at = text.find("[/", at + 1)) {
    const std::size_t end = text.find_first_of("]\n", at);
    if (end == std::string::npos || text[end] != ']') continue;
    std::string_view place = std::string_view(text).substr(at + 1, end - at - 1);
    const std::vector<std::string> addresses = addresses_of(place);
    if (addresses.empty()) continue;
    all.append(text, done, at - done);
    all += line(std::string(place), addresses);
    done = end + 1;
    at = end;
  }
  return all.append(text, done);
}

} // namespace

std::string with_source_lines(const std::string& text) {
  const moment end = std::chrono::steady_clock::now() + longest_wait;
  return with_lines(text, [&](const std::string& file, const std::vector<std::string>& places) {
    return source_line(file, places, end);
  });
}

std::string with_kept_source_lines(const std::string& text) {
  constexpr std::size_t most = 16;
  return with_lines(text, [](const std::string& file, const std::vector<std::string>& places) {
    kept_lines& kept = all_kept();
    const std::lock_guard lock(kept.held);
    const auto known = kept.lines.find({file, places});
    if (known != kept.lines.end()) return known->second;
    if (kept.lines.size() == most) return how_to_ask(file, places.front());
    const moment end = std::chrono::steady_clock::now() + longest_wait;
    return kept.lines[{file, places}] = source_line(file, places, end);
  });
}

} // namespace weft::boot
