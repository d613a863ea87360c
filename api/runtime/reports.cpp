// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/reports.hpp"

#include "engine/format.hpp"
#include "pmix_boot/client/source_lines.hpp"
#include "progress/driving/wait_survey.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace weft::api {

using namespace std::chrono_literals;

namespace {

// How long the thread tries to look: a thread that drives lets go at the end of its idle ladder at the
// latest.
constexpr auto patience = 300ms;
// Between two looks whether what was reported has gone on.
constexpr auto look_again = 100ms;
// A thread that waits goes to sleep again within this time, on a busy machine too.
constexpr auto asleep_within = 1s;

// A wait that has lasted so long is worth some microseconds to know where it stands.
constexpr auto worth_a_place = 50ms;

// What was said at SIGCONT is not said again at the signal behind it, nor at each further SIGCONT.
constexpr auto said_for = 5s;

constexpr int ending_signals[] = {SIGINT, SIGQUIT, SIGTERM};
std::atomic<int> signal_fd{-1};
std::atomic<int> signal_number{0};
std::atomic<pid_t> signal_owner{0};
std::atomic<bool> continued{false};

void note_signal(int number) {
  const int saved = errno;
  // A child that this process has forked has no thread that could answer: the signal does what it does
  // without us.
  if (getpid() != signal_owner.load(std::memory_order_relaxed)) {
    if (number != SIGCONT) kill(getpid(), number);
    errno = saved;
    return;
  }
  if (number == SIGCONT)
    continued.store(true, std::memory_order_relaxed);
  else
    signal_number.store(number, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  static_cast<void>(!write(signal_fd.load(std::memory_order_relaxed), &one, sizeof one));
  errno = saved;
}

// Where the user has a handler, or ignores the signal, it stays so.
void take_signal(int number, int flags) {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
    return;
  now.sa_handler = note_signal;
  now.sa_flags = SA_RESTART | flags;
  sigemptyset(&now.sa_mask);
  sigaction(number, &now, nullptr);
}

void take_signals(int fd) {
  signal_fd.store(fd, std::memory_order_relaxed);
  signal_owner.store(getpid(), std::memory_order_relaxed);
  for (const int number : ending_signals)
    take_signal(number, static_cast<int>(SA_RESETHAND));
  take_signal(SIGCONT, 0);
}

void give_signal_back(int number) {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
      now.sa_handler != note_signal)
    return;
  now.sa_handler = SIG_DFL;
  sigaction(number, &now, nullptr);
}

void give_signals_back() {
  for (const int number : ending_signals)
    give_signal_back(number);
  give_signal_back(SIGCONT);
}

} // namespace

wait_reporter::wait_reporter(engine_type& engine, std::uint32_t rank, std::uint64_t timeout_seconds)
    : engine_(engine), rank_(rank), timeout_(std::chrono::seconds(timeout_seconds)), line_(rank) {
  sigset_t all, before;
  sigfillset(&all); // signals are the application's
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(thread_.native_handle(), "weft-reports");
  take_signals(bell_.fd());
  engine_.sleeps_watched_by(this);
}

wait_reporter::~wait_reporter() {
  engine_.sleeps_watched_by(nullptr);
  give_signals_back();
  stop_.store(true, std::memory_order_relaxed);
  bell_.ring();
  thread_.join();
  signal_fd.store(-1, std::memory_order_relaxed);
}

void wait_reporter::on_sleep() {
  const clock::time_point time = clock::now();
  const std::lock_guard lock(lock_);
  look_at(operation_, oldest_operation(), time);
  look_at(answer_, oldest_answer(), time);
}

void wait_reporter::look_at(watched& w, const subject& oldest, clock::time_point now) {
  if (w.what != oldest) w = {oldest, now, now, timeout_, {}};
  w.last_sleep = now;
  if (!w.place.known() && now - w.since > worth_a_place) w.place = engine::call_place::here();
  if (oldest.number == 0 || timeout_.count() == 0 || now - w.since < w.limit) return;
  w.limit *= 2;
  late_ = &w;
  bell_.ring();
}

wait_reporter::subject wait_reporter::oldest_operation() {
  const auto [team, seq] = engine_.works().oldest();
  return {false, team, seq};
}
wait_reporter::subject wait_reporter::oldest_answer() {
  return {true, 0, engine_.works().answers().oldest()};
}

void wait_reporter::serve() {
  while (!stop_.load(std::memory_order_relaxed)) {
    pollfd watched[2] = {{bell_.fd(), POLLIN, 0}, {line_.fd(), POLLIN, 0}};
    ::poll(watched, 2, told_.what.number != 0 ? static_cast<int>(look_again.count()) : -1);
    bell_.drain();
    try {
      if (stop_.load(std::memory_order_relaxed)) return look_whether_it_went_on();
      if (signal_number.load(std::memory_order_relaxed) != 0) end_by_signal();
      go_on();
      if (line_.asked()) line_.answer(report());
      answer_late();
      look_whether_it_went_on();
    } catch (const std::exception&) {
      continue; // for want of memory: no report is a reason to end
    }
  }
}

void wait_reporter::answer_late() {
  {
    const std::lock_guard lock(lock_);
    if (late_ == nullptr) return;
    told_ = *std::exchange(late_, nullptr);
  }
  if (line_.fd() >= 0) return line_.say_late();
  print(report(),
        engine::format("no end after {} s (WEFT_TIMEOUT; the wait goes on)", waited(told_, clock::now())));
}

void wait_reporter::look_whether_it_went_on() {
  const subject& was = told_.what;
  if (was.number == 0) return;
  bool same = true;
  under_the_baton([&] { same = was == (was.answer ? oldest_answer() : oldest_operation()); });
  if (same) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - told_.since).count();
  const std::string what =
      was.answer ? "the wait" : engine::format("operation {} of team {}", was.number, was.team);
  engine::print(stderr, "weft: rank {}: {} went on after {} s\n", rank_, what, seconds);
  told_ = {};
}

void wait_reporter::end_by_signal() {
  const int number = signal_number.exchange(0, std::memory_order_relaxed);
  try {
    flush_streams_in_time();
    if (line_.fd() < 0 && !said_lately()) say(engine::format("ended by signal {} while it waits", number));
  } catch (const std::exception&) { // for want of memory: it ends even so
  }
  // The handler is gone with the first signal; now it does what it does without us.
  kill(getpid(), number);
}

// Open MPI's mpirun sends SIGKILL at once behind the signal that ends a job, but SIGCONT a second before it.
// Who really was stopped has not gone to sleep lately, and says nothing.
void wait_reporter::go_on() {
  if (!continued.exchange(false, std::memory_order_relaxed)) return;
  flush_streams_in_time();
  if (line_.fd() < 0 && !said_lately() && say("the job may be about to be ended (SIGCONT) while it waits"))
    said_at_ = clock::now();
}

bool wait_reporter::said_lately() const {
  return clock::now() - said_at_ < said_for;
}

bool wait_reporter::say(const std::string& why) {
  const boot::rank_report r = report();
  if (r.waits()) print(r, why);
  return r.waits();
}

// The newest first; calls of one name that follow each other are told together.
static std::string text_of(const std::vector<progress::recorder::event>& flight, std::uint64_t now) {
  constexpr std::size_t most_told = 6;
  using happening = progress::recorder::happening;
  struct told {
    std::string call;
    std::uint64_t bytes = 0, calls = 0, first = 0, last = 0, longest = 0;
    bool open = false; // the last has not ended
  };
  std::vector<told> all;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> ended; // when, by team and number
  for (const auto& e : flight) {
    if (e.what == happening::ended) ended[{e.team, e.number}] = e.at;
    if (e.what != happening::entered) continue;
    const auto end = ended.find({e.team, e.number});
    const bool open = end == ended.end();
    std::string call = progress::call_name({.op = e.op, .by = static_cast<collectives::caller>(e.by)});
    if (e.team != 0) call += engine::format(" of team {}", e.team);
    const bool another =
        all.empty() || all.back().call != call || all.back().bytes != e.bytes || open != all.back().open;
    if (another && all.size() == most_told) break;
    if (another) all.push_back({.call = std::move(call), .bytes = e.bytes, .last = e.at, .open = open});
    told& t = all.back();
    ++t.calls;
    t.first = e.at;
    if (!open) t.longest = std::max(t.longest, end->second - e.at);
  }
  std::string text;
  const auto ago = [now](std::uint64_t at) { return static_cast<double>(now - std::min(at, now)) / 1e9; };
  for (const told& t : all) {
    text += engine::format("{}{}{}", text.empty() ? "" : "; ",
                           t.calls > 1 ? engine::format("{} times ", t.calls) : "", t.call);
    if (t.bytes != 0) text += engine::format(" of {} bytes", t.bytes);
    text += t.calls > 1 ? engine::format(", {:.3f} to {:.3f} s ago", ago(t.first), ago(t.last))
                        : engine::format(", {:.3f} s ago", ago(t.first));
    text += t.open ? ", not ended"
                   : engine::format(", {:.3f} ms long{}", static_cast<double>(t.longest) / 1e6,
                                    t.calls > 1 ? " at most" : "");
  }
  return text;
}

// Seconds that a thread has waited, at least 1; 0 if no thread waits. No thread may wait for an operation,
// but a thread does for an answer.
std::uint64_t wait_reporter::waited(const watched& w, clock::time_point now) {
  const std::lock_guard lock(lock_);
  if (w.what.number == 0 || (!w.what.answer && now - w.last_sleep > asleep_within)) return 0;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - w.since).count();
  return seconds < 1 ? 1 : static_cast<std::uint64_t>(seconds);
}

template <class Work> bool wait_reporter::under_the_baton(Work&& work) {
  engine_type::turn mine(engine_);
  const progress::ownership_request wish(engine_.right_to_drive());
  const clock::time_point end = clock::now() + patience;
  while (!mine.take() && clock::now() < end)
    std::this_thread::sleep_for(1ms);
  if (mine.held()) work();
  return mine.held();
}

boot::rank_report wait_reporter::report() {
  boot::rank_report r;
  r.rank = rank_;
  bool same_answer = false; // as at the last look at the clock
  const bool looked = under_the_baton([&] {
    progress::wait_survey survey(engine_.works());
    for (progress::blocked_operation& b : survey.oldest())
      r.waiting.push_back(
          {b.team, b.seq, std::move(b.call), engine::joined(b.nodes, "; "), std::move(b.missing)});
    for (const progress::team_position& at : survey.positions())
      r.teams.push_back({at.team, at.entered});
    if (const auto* last = engine_.plans().latest()) {
      r.last_call = engine::format("{} (team {})", progress::call_name(last->request), last->team);
      if (const std::uint32_t place = survey.place_of_last(last->team); place != 0)
        r.last_call += " at " + engine::call_place::text_of(place);
    }
    if (const progress::recorder* const record = engine_.works().members().record)
      r.flight = text_of(record->flight(), progress::recorder::now());
    r.answers = engine_.works().answers().texts();
    r.keeps = engine_.works().answers().kept();
    const std::lock_guard lock(lock_);
    same_answer = answer_.what == oldest_answer();
    if (operation_.what == oldest_operation()) r.place = operation_.place.text();
  });
  if (!looked) r.last_call = "one that another thread of it drives and does not let go of";
  r.seconds = r.waiting.empty() ? 0 : waited(operation_, clock::now());
  r.answer_seconds = same_answer ? waited(answer_, clock::now()) : 0;
  return r;
}

void wait_reporter::print(const boot::rank_report& r, const std::string& why) {
  engine::print(stderr, "weft: rank {}: {}\n", rank_, why);
  for (const std::string& line : boot::lines_of(r))
    engine::print(stderr, "weft:   {}\n", boot::with_source_lines(line));
}

} // namespace weft::api
