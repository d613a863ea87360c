// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/supervisor.hpp"

#include "pmix_boot/client/limits.hpp"
#include "pmix_boot/client/pmix_info.hpp"
#include "pmix_boot/client/source_lines.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::boot {

namespace {

// Between the request to end and the end by force.
constexpr std::chrono::seconds grace{5};
constexpr std::chrono::milliseconds time_for_lines{500};
constexpr int cannot_run = 126;
// That ranks have to say what they wait for, and the least time between two reports.
constexpr std::chrono::milliseconds answer_time{700};
constexpr std::chrono::milliseconds between_reports{900};
// The same signal again within this time is the same request: timeout(1) sends its signal to the launcher,
// and then to the process group that the launcher is in.
constexpr std::chrono::milliseconds one_request{500};

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string signal_name(int signal) {
  const char* text = sigdescr_np(signal);
  std::string name = text == nullptr ? "unknown" : text;
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  return name;
}

std::string prefix(std::uint32_t rank) {
  return "weft run: rank " + std::to_string(rank) + " ";
}

// Of the launcher and of its server, measured with PMIx 4.2: what they open themselves, also for a moment
// only, and for each rank: two pipes and a connection here, a connection there.
constexpr std::size_t own_files = 20, files_of_rank = 3;
constexpr std::size_t own_threads = 6, threads_of_rank = 10; // and processes
constexpr std::size_t own_addresses = std::size_t{64} << 20, own_data = std::size_t{32} << 20;

// Before the first file is opened, and before the server is forked. What the ranks get back is the limit that
// the user gave.
inherited_state take_room(std::uint32_t ranks) {
  const inherited_state found = inherited_state::save();
  rlimit limit = found.open_files;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::string start = "the start of " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
  require_files(own_files + files_of_rank * ranks, start);
  require_addresses(own_addresses, start, "");
  require_data(own_data, start);
  require_threads(own_threads + threads_of_rank * ranks, start);
  return found;
}

} // namespace

supervisor::supervisor(const launch_options& options, const std::string& program_path)
    : options_(options), program_{program_path, options.command},
      layout_(options.ranks, options.nodes, host_name()), inherited_(take_room(options.ranks)),
      server_(layout_, guardian_.directory()), reports_(options.ranks, guardian_.directory()),
      output_(options.ranks, options.tag_output), ranks_(options.ranks) {}

int supervisor::run() {
  start_all();
  while (running_ > 0 || !output_.drained()) {
    wait_for_something();
    // An end comes before the aborts that it causes: what has aborted is taken before the ends are, and
    // judged after.
    handle_server_events();
    const bool aborted = abort_.has_value();
    for (const auto& received : signals_.take())
      handle_signal(received);
    if (aborted && abort_) handle_abort(); // unless its rank has ended, too, and was reaped
    look_for_guardian();
    output_.move();
    if (const std::string lost = output_.failure(); !lost.empty()) abandon(lost + "; the job was ended", 1);
    input_.move();
    if (lines_time_ && (!lines_to_come() || clock::now() >= *lines_time_)) request_end();
    if (reports_.move() && !inquiry_ && clock::now() >= quiet_until_)
      begin_report("a wait lasts longer than WEFT_TIMEOUT; the job goes on", 0);
    if (inquiry_ && (reports_.all_answered() || clock::now() >= inquiry_->end)) end_report();
    if (kill_time_ && clock::now() >= *kill_time_) {
      signal_all(SIGKILL);
      kill_time_.reset();
    }
  }
  return status_;
}

void supervisor::start_all() {
  const int null_input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  try {
    for (std::uint32_t rank = 0; rank < layout_.ranks(); ++rank)
      start(rank, null_input);
  } catch (const std::system_error& error) {
    abandon("cannot start " + program_.path + ": " + error.code().message(), cannot_run);
  }
  close(null_input);
  input_.release_rank_end();
}

void supervisor::start(std::uint32_t rank, int null_input) {
  const int out = output_.open(rank, line_output::stream::output);
  const int err = output_.open(rank, line_output::stream::error);
  const auto close_both = [&] {
    close(out);
    close(err);
  };
  try {
    const standard_files files{rank == 0 ? input_.rank_end() : null_input, out, err};
    ranks_[rank].pid = start_rank(program_, environment_of(rank), files, inherited_, guardian_.socket());
  } catch (...) {
    close_both();
    throw;
  }
  close_both();
  ranks_[rank].running = true;
  ++running_;
}

void supervisor::wait_for_something() {
  std::vector<pollfd> waits{{signals_.fd(), POLLIN, 0}, {server_.event_fd(), POLLIN, 0}};
  if (!ending_) waits.push_back({guardian_.socket(), 0, 0});
  output_.collect(waits);
  input_.collect(waits);
  reports_.collect(waits);
  int timeout = -1;
  const auto until = [&timeout](clock::time_point when) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - clock::now()).count();
    const int wait = static_cast<int>(std::max<std::chrono::milliseconds::rep>(left, 0));
    timeout = timeout < 0 ? wait : std::min(timeout, wait);
  };
  if (kill_time_) until(*kill_time_);
  if (lines_time_) until(lines_to_come() ? *lines_time_ : clock::now());
  if (inquiry_) until(inquiry_->end);
  if (abort_) until(clock::now());
  poll(waits.data(), waits.size(), timeout);
}

void supervisor::handle_signal(signal_gate::received received) {
  int signal = received.signal;
  if (signal == SIGCHLD) return reap(received.sender);
  // First the ranks say what they wait for; another signal does not wait for that.
  const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
  if (ends) {
    const auto now = clock::now();
    if (signal == last_request_.signal && now < last_request_.when + one_request) return;
    last_request_ = {signal, now};
  }
  if (ends && interrupts_ == 0 && !ending_ && running_ > 0 && !(inquiry_ && inquiry_->signal != 0) &&
      reports_.any_waits()) {
    if (signal != SIGQUIT) ++interrupts_;
    return begin_report("the job is ended by signal " + std::to_string(signal) + " while ranks wait", signal);
  }
  if (signal == SIGINT || signal == SIGTERM) {
    ++interrupts_;
    // The ranks are gone and only a reader of the output that does not read keeps us.
    if (running_ == 0) return output_.discard();
    if (interrupts_ > 1) signal = SIGKILL;
  }
  signal_all(signal);
  // The terminal is gone: no second request can come from it.
  if (signal == SIGHUP && !kill_time_) kill_time_ = clock::now() + grace;
  // Stop as the shell expects it of its job; SIGCONT comes through the gate again.
  if (signal == SIGTSTP) raise(SIGSTOP);
}

void supervisor::begin_report(const std::string& why, int signal) {
  inquiry_ = inquiry{clock::now() + answer_time, why, signal};
  reports_.ask_all();
}

// Of a job that is ended while no rank waits there is nothing to say.
void supervisor::end_report() {
  const inquiry over = *std::exchange(inquiry_, std::nullopt);
  quiet_until_ = clock::now() + between_reports;
  std::vector<job_member> job;
  bool waits = false;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    job.push_back({reports_.answer(rank), state_of(rank)});
    waits |= job.back().report && job.back().report->waits();
  }
  if (waits) {
    output_.say("weft run: " + over.why + ":");
    for (const std::string& line : lines_of(job))
      output_.say("weft run:   " + with_source_lines(line));
  }
  if (over.signal != 0) signal_all(over.signal);
}

// Of a rank that has not answered.
std::string supervisor::state_of(std::uint32_t rank) const {
  if (!ranks_[rank].running) return "has ended";
  std::ifstream file("/proc/" + std::to_string(ranks_[rank].pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  const char state = name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
  if (state == 'T' || state == 't') return "is stopped";
  if (!reports_.connected(rank)) return "has not called weft_init yet, or is leaving the job";
  return "did not answer";
}

std::vector<std::string> supervisor::environment_of(std::uint32_t rank) const {
  std::vector<std::string> all = server_.environment(rank);
  const std::string mine = reports_.environment();
  std::erase_if(all, [&](const std::string& entry) {
    return entry.compare(0, entry.find('=') + 1, mine, 0, mine.find('=') + 1) == 0;
  });
  all.push_back(mine);
  return all;
}

void supervisor::handle_server_events() {
  for (const server_event& event : server_.take_events()) {
    switch (event.what) {
    case server_event::kind::joined:
      handle_join(event.rank);
      break;
    case server_event::kind::left:
      ranks_[event.rank].left = true;
      break;
    case server_event::kind::gone:
      abandon("the PMIx server of the job died; the job was ended", 1);
      break;
    case server_event::kind::abort:
      if (!abort_) abort_ = event;
      break;
    }
  }
}

void supervisor::handle_abort() {
  const server_event event = *std::exchange(abort_, std::nullopt);
  if (event.status == 0) { // on purpose
    if (!ending_) end_job();
    return;
  }
  const int status = (event.status & 0xff) == 0 ? 1 : event.status & 0xff;
  abandon("rank " + std::to_string(event.rank) + " aborted the job with status " + std::to_string(status) +
              ": " + event.text,
          status);
}

// Without it, what the ranks have started would outlive a launcher that is killed.
void supervisor::look_for_guardian() {
  if (!ending_ && guardian_.died())
    abandon("the process of the job that clears up (weft-guardian) died; the job was ended", 1);
}

void supervisor::handle_join(std::uint32_t rank) {
  if (ranks_[rank].left)
    return abandon("rank " + std::to_string(rank) +
                       " has left the job, and now a second program of it joins, as in sh -c './a; ./b': " +
                       joins_once + "; the job was ended",
                   1);
  ranks_[rank].joined = true;
  if (never_joined_)
    abandon("rank " + std::to_string(*never_joined_) +
                " ended before it joined the others; the job was ended",
            1);
}

void supervisor::reap(pid_t first) {
  std::vector<std::pair<std::uint32_t, siginfo_t>> ended;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
    if (const auto end = reap(rank)) ended.emplace_back(rank, *end);
  // Their last words come before the words about them.
  for (const auto& [rank, end] : ended)
    output_.take_last_of(rank);
  // How they ended is told apart by what they said to the server before.
  handle_server_events();
  // One rank's death makes others fail, often before we look: the cause is the first of them.
  std::stable_partition(ended.begin(), ended.end(),
                        [first](const auto& one) { return one.second.si_pid == first; });
  if (abort_ && !ended.empty() && ended.front().first == abort_->rank) handle_abort();
  for (const auto& [rank, end] : ended)
    handle_end(rank, end);
}

std::optional<siginfo_t> supervisor::reap(std::uint32_t rank) {
  rank_state& state = ranks_[rank];
  siginfo_t end{};
  if (!state.running) return std::nullopt;
  if (waitid(P_PID, static_cast<id_t>(state.pid), &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid == 0)
    return std::nullopt;
  // What the rank started ends with it; while the rank is not reaped the number is its own.
  kill(-state.pid, SIGKILL);
  guardian_.forget(state.pid);
  waitpid(state.pid, nullptr, 0);
  state.running = false;
  --running_;
  return end;
}

void supervisor::handle_end(std::uint32_t rank, const siginfo_t& end) {
  if (!ranks_[rank].joined && !never_joined_) never_joined_ = rank;
  if (const auto failed = judge(ranks_[rank], end)) handle_failure(rank, *failed);
}

std::optional<supervisor::failure> supervisor::judge(const rank_state& rank, const siginfo_t& end) const {
  const int code = end.si_status;
  if (end.si_code != CLD_EXITED)
    return failure{128 + code, "died by signal " + std::to_string(code) + " (" + signal_name(code) + ")"};
  if (code != 0) return failure{code, "exited with status " + std::to_string(code)};
  if (rank.joined && !rank.left) return failure{1, "exited without leaving the job"};
  if (!rank.joined && any_joined()) return failure{1, "ended before it joined the others"};
  return std::nullopt;
}

void supervisor::handle_failure(std::uint32_t rank, const failure& failure) {
  if (ending_) return;
  // Ranks that have joined cannot complete their first fence without one that never did.
  const bool job_can_go_on = options_.keep_going && (ranks_[rank].joined || !any_joined());
  if (!job_can_go_on)
    return abandon("rank " + std::to_string(rank) + " " + failure.text + "; the job was ended",
                   failure.status);
  output_.say(prefix(rank) + failure.text + (running_ > 0 ? "; the others go on" : ""));
  if (status_ == 0) status_ = failure.status;
  server_.report_death(rank);
}

void supervisor::abandon(const std::string& reason, int status) {
  if (ending_) return;
  output_.say("weft run: " + reason);
  if (status_ == 0) status_ = status;
  end_job();
}

void supervisor::end_job() {
  ending_ = true;
  lines_time_ = clock::now() + time_for_lines;
}

// Of a line that a rank has begun; and of a rank that has left the job and still runs: another rank's failure
// may come of its leaving, and what it prints says why it left.
bool supervisor::lines_to_come() const {
  return output_.within_lines() ||
         std::ranges::any_of(ranks_, [](const rank_state& rank) { return rank.running && rank.left; });
}

void supervisor::request_end() {
  lines_time_.reset();
  signal_all(SIGTERM);
  // A stopped rank would not see it.
  signal_all(SIGCONT);
  kill_time_ = clock::now() + grace;
}

void supervisor::signal_all(int signal) {
  for (const rank_state& rank : ranks_)
    if (rank.running) kill(-rank.pid, signal);
}

bool supervisor::any_joined() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const rank_state& rank) { return rank.joined; });
}

} // namespace weft::boot
