// SPDX-License-Identifier: BSD-3-Clause
#include "api/runtime/job_trace.hpp"

#include "engine/format.hpp"
#include "engine/log.hpp"
#include "engine/operations/all_kinds.hpp"
#include "progress/execution/call_record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <unistd.h>

namespace weft::api {

namespace {

using progress::recorder;
using event = recorder::event;
using happening = recorder::happening;

// 6 MiB for each rank.
constexpr std::size_t kept_events = std::size_t{1} << 17;
constexpr int barriers = 9;

template <class Value> std::span<const std::byte> bytes_of(const std::vector<Value>& values) {
  return std::as_bytes(std::span(values));
}
template <class Value> std::vector<Value> values_in(const std::vector<std::byte>& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

std::string call_of(const event& e) {
  return progress::call_name({.op = e.op, .by = static_cast<collectives::caller>(e.by)});
}

// What a rank tells of the calls of one name; of those alone that it has made.
struct place_sum {
  std::size_t place = 0;
  recorder::sum of_calls;
};

// Can a step of this kind only go on when the other rank has come so far?
bool waits_for_peer(const event& step) {
  const auto kind = static_cast<graph::kind>(step.by);
  return kind == graph::kind::await || kind == graph::kind::take;
}

// The lines of one rank, each an object of the array traceEvents, with a comma behind it.
class rank_lines {
public:
  rank_lines(std::uint32_t rank, std::int64_t zero) : rank_(rank), zero_(zero) {}

  void name(const std::string& host, std::uint64_t lost) {
    text_ += engine::format(
        R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {} on {}"}}}},)"
        "\n"
        R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}},)"
        "\n"
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":0,"args":{{"name":"calls and waits"}}}},)"
        "\n"
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":1,"args":{{"name":"steps"}}}},)"
        "\n",
        rank_, rank_, host, rank_, rank_, rank_, rank_);
    if (lost != 0)
      text_ +=
          engine::format(R"({{"ph":"i","s":"p","name":"{} older events are lost","pid":{},"tid":0,"ts":0}},)"
                         "\n",
                         lost, rank_);
  }
  void slice(const std::string& what, std::uint64_t begin, std::uint64_t end, const std::string& arguments) {
    text_ += engine::format(R"({{"ph":"X","name":"{}","pid":{},"tid":0,"ts":{},"dur":{},"args":{{{}}}}},)"
                            "\n",
                            what, rank_, time(begin), span(end - begin), arguments);
  }
  // Of an operation: its life, which overlaps with that of others.
  void life(char phase, const std::string& what, const event& e) {
    text_ += engine::format(
        R"({{"ph":"{}","cat":"operations","name":"{}","id":"{}.{}.{}","pid":{},"tid":0,"ts":{},"args":{{"team":{},"number":{},"bytes":{}}}}},)"
        "\n",
        phase, what, rank_, e.team, e.number, rank_, time(e.at), e.team, e.number, e.bytes);
  }
  void step(const event& e) {
    text_ += engine::format(
        R"({{"ph":"i","s":"t","name":"{} rank {}","pid":{},"tid":1,"ts":{},"args":{{"team":{},"number":{}}}}},)"
        "\n",
        graph::name(static_cast<graph::kind>(e.by)), e.peer, rank_, time(e.at), e.team, e.number);
  }
  // An arrow from the entry of one rank into an operation to the end of another's wait for it.
  void arrow(bool begins, std::uint32_t from, std::uint32_t team, std::uint32_t number, std::uint64_t at) {
    text_ += engine::format(
        R"({{"ph":"{}",{}"cat":"waited for","name":"entered","id":"{}.{}.{}","pid":{},"tid":0,"ts":{}}},)"
        "\n",
        begins ? 's' : 'f', begins ? "" : R"("bp":"e",)", from, team, number, rank_, time(at));
  }
  std::string take() { return std::move(text_); }

private:
  std::string time(std::uint64_t at) const {
    return span(static_cast<std::uint64_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(at) - zero_)));
  }
  // In microseconds.
  static std::string span(std::uint64_t ns) { return engine::format("{}.{:03}", ns / 1000, ns % 1000); }

  const std::uint32_t rank_;
  const std::int64_t zero_; // on this rank's clock
  std::string text_;
};

} // namespace

job_trace::job_trace(const boot::job& job, const engine::settings& s)
    : path_(s.trace), prints_(s.statistics) {
  if (path_.empty() && !prints_ && !s.check) return;
  recorder_.emplace(path_.empty() ? 0 : kept_events);
  if (path_.empty() || job.rank() != 0) return;
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    throw engine::setting_error(
        engine::format("WEFT_TRACE={}: cannot be written: {}; name a file in a folder "
                       "that the ranks may write to",
                       path_, std::strerror(errno)));
  close(file);
}

void job_trace::compare_clocks(const std::function<void()>& barrier) {
  if (!recorder_) return;
  recorder_->stop();
  for (int k = 0; !path_.empty() && k < barriers; ++k) {
    barrier();
    exits_.push_back(recorder::now());
  }
}

// Where it is the same, a rank has the same clock.
static std::vector<char> boot_of_system() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return {id.begin(), id.end()};
}

// How far this rank's clock is ahead of rank 0's.
static std::int64_t ahead_of_first(const boot::job& job, const std::vector<std::uint64_t>& exits) {
  if (const auto boot = boot_of_system(); !boot.empty() && boot == values_in<char>(job.get(0, "weft.boot")))
    return 0;
  const auto first = values_in<std::uint64_t>(job.get(0, "weft.exits"));
  std::vector<std::int64_t> ahead;
  for (std::size_t k = 0; k < std::min(first.size(), exits.size()); ++k)
    ahead.push_back(static_cast<std::int64_t>(exits[k] - first[k]));
  if (ahead.empty()) return 0;
  std::ranges::nth_element(ahead, ahead.begin() + static_cast<std::ptrdiff_t>(ahead.size() / 2));
  return ahead[ahead.size() / 2];
}

std::string job_trace::part_of(const boot::job& job, std::int64_t zero) const {
  using operation_name = std::pair<std::uint32_t, std::uint32_t>; // team and number
  struct seen {
    event entry;
    event last; // the last step that waited for another rank
    bool has_last = false;
    bool has_ended = false;
  };
  rank_lines lines(job.rank(), zero);
  lines.name(job.host_of(job.rank()), recorder_->lost());
  std::map<operation_name, seen> under_way;
  seen ended; // the last one
  event wait;
  bool waits = false;
  for (const event& e : recorder_->events()) {
    const operation_name op{e.team, e.number};
    const auto found = under_way.find(op);
    switch (e.what) {
    case happening::entered:
      under_way[op] = {.entry = e, .last = {}};
      lines.life('b', call_of(e), e);
      // An arrow begins at a slice: a blocking call is one when it has ended.
      if (!e.blocking) lines.slice("post " + call_of(e), e.at, e.at + 1000, "");
      lines.arrow(true, job.rank(), e.team, e.number, e.at);
      break;
    case happening::stepped:
      lines.step(e);
      if (found == under_way.end() || e.peer == job.rank() || !waits_for_peer(e)) break;
      found->second.last = e;
      found->second.has_last = true;
      break;
    case happening::ended:
      if (found == under_way.end()) break; // its entry is lost
      lines.life('e', call_of(e), e);
      if (e.blocking)
        lines.slice(call_of(e), found->second.entry.at, e.at, engine::format(R"("bytes":{})", e.bytes));
      ended = found->second;
      ended.has_ended = true;
      under_way.erase(found);
      break;
    case happening::waiting:
      wait = e;
      waits = true;
      ended.has_ended = false;
      break;
    case happening::waited: {
      if (!waits) break;
      std::string arguments;
      if (ended.has_ended) {
        arguments = engine::format(R"("for":"{}")", call_of(ended.entry));
        if (ended.has_last)
          arguments += engine::format(R"(,"last step":"{} rank {}")",
                                      graph::name(static_cast<graph::kind>(ended.last.by)), ended.last.peer);
      }
      lines.slice("wait", wait.at, e.at, arguments);
      if (ended.has_ended && ended.has_last)
        lines.arrow(false, ended.last.peer, ended.entry.team, ended.entry.number, e.at);
      waits = false;
      break;
    }
    }
  }
  return lines.take();
}

void job_trace::write(boot::job& job) {
  job.put("weft.boot", bytes_of(boot_of_system()));
  job.put("weft.exits", bytes_of(exits_));
  job.put("weft.begin", bytes_of(std::vector<std::uint64_t>{begin_}));
  job.commit();
  job.fence();
  const auto zero = static_cast<std::int64_t>(values_in<std::uint64_t>(job.get(0, "weft.begin")).at(0));
  std::string part = part_of(job, ahead_of_first(job, exits_) + zero);
  if (job.rank() == 0) part = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + part;
  if (job.rank() + 1 == job.size())
    part += engine::format(
        "{{\"ph\":\"M\",\"name\":\"trace_of\",\"pid\":0,\"args\":{{\"ranks\":{}}}}}\n]}}\n", job.size());
  job.put("weft.part", bytes_of(std::vector<std::uint64_t>{part.size()}));
  job.commit();
  job.fence();
  std::uint64_t at = 0;
  for (std::uint32_t r = 0; r < job.rank(); ++r)
    at += values_in<std::uint64_t>(job.get(r, "weft.part")).at(0);
  const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  bool whole = file >= 0;
  for (std::size_t done = 0; whole && done < part.size();) {
    const ssize_t n = pwrite(file, part.data() + done, part.size() - done, static_cast<off_t>(at + done));
    whole = n > 0;
    done += whole ? static_cast<std::size_t>(n) : 0;
  }
  const int why = errno;
  if (file >= 0) close(file);
  if (!whole)
    engine::log(engine::severity::error, "WEFT_TRACE={}: the part of rank {} could not be written: {}", path_,
                job.rank(), std::strerror(why));
  job.fence(); // the file is whole when a rank ends
}

void job_trace::print_sums(boot::job& job) const {
  const recorder::sums& own = recorder_->by_call();
  std::vector<place_sum> called;
  for (std::size_t k = 0; k < own.size(); ++k)
    if (own[k].calls != 0) called.push_back({k, own[k]});
  job.put("weft.sums", bytes_of(called));
  job.commit();
  job.fence();
  if (job.rank() != 0) return;
  struct row {
    std::size_t place = 0;
    std::uint32_t rank = 0; // of the longest wait
    recorder::sum all;
  };
  std::vector<row> rows(own.size());
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    for (const auto& [place, theirs] : values_in<place_sum>(job.get(r, "weft.sums"))) {
      row& of_call = rows.at(place);
      of_call.place = place;
      recorder::sum& all = of_call.all;
      if (theirs.longest > all.longest) {
        all.longest = theirs.longest;
        of_call.rank = r;
      }
      all.calls += theirs.calls;
      all.bytes += theirs.bytes;
      all.waited += theirs.waited;
    }
  }
  std::erase_if(rows, [](const row& r) { return r.all.calls == 0; });
  std::ranges::sort(rows, [](const row& a, const row& b) { return a.all.waited > b.all.waited; });
  constexpr std::size_t most_rows = 10;
  rows.resize(std::min(rows.size(), most_rows));
  engine::print(stderr, "weft: all ranks together, by the time that threads waited:\n");
  engine::print(stderr, "weft: {:<28} {:>10} {:>14} {:>12} {:>12}  of rank\n", "call", "calls",
                "bytes of blocks", "waited ms", "longest ms");
  for (const row& r : rows)
    engine::print(
        stderr, "weft: {:<28} {:>10} {:>15} {:>12.3f} {:>12.3f}  {}\n",
        progress::call_name({.op = static_cast<collectives::operation>(r.place % recorder::operations),
                             .by = static_cast<collectives::caller>(r.place / recorder::operations)}),
        r.all.calls, r.all.bytes, static_cast<double>(r.all.waited) / 1e6,
        static_cast<double>(r.all.longest) / 1e6, r.rank);
}

void job_trace::finish(boot::job& job) {
  if (!recorder_) return;
  if (prints_) print_sums(job);
  if (!path_.empty()) write(job);
}

} // namespace weft::api
