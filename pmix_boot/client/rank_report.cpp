// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/client/rank_report.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace weft::boot {

namespace {

constexpr const char* version = "weft report 4";

std::string list_of(const std::vector<std::uint32_t>& ranks, const char* one, const char* many) {
  std::string text = ranks.size() == 1 ? one : many;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    const bool row = k + 2 < ranks.size() && ranks[k + 1] == ranks[k] + 1 && ranks[k + 2] == ranks[k] + 2;
    text.append(k == 0 ? " " : ", ").append(std::to_string(ranks[k]));
    if (!row) continue;
    while (k + 1 < ranks.size() && ranks[k + 1] == ranks[k] + 1)
      ++k;
    text.append("-").append(std::to_string(ranks[k]));
  }
  return text;
}

std::string name_of(std::uint32_t team, std::uint64_t number) {
  return "operation " + std::to_string(number) + " of team " + std::to_string(team);
}

std::string last_of(const rank_report& r) {
  return r.last_call.empty() ? "has called no collective yet" : "its last call was " + r.last_call;
}

// Of what it waits for; of others that are outstanding nothing is said.
std::string place_of(const rank_report& r, const rank_report::blocked& b) {
  const bool waits = r.seconds != 0 && !r.place.empty() && &b == &r.waiting.front();
  return waits ? ", in the call at " + r.place : "";
}

std::string after(std::uint64_t seconds) {
  return seconds == 0 ? "" : ", for " + std::to_string(seconds) + " s";
}

// The ranks that have said the same, in the order of the first of each.
class alike {
public:
  void add(const std::string& text, std::uint32_t rank, std::uint64_t seconds) {
    if (!all_.contains(text)) order_.push_back(text);
    said& s = all_[text];
    s.ranks.push_back(rank);
    s.seconds = std::max(s.seconds, seconds);
  }
  void tell(std::vector<std::string>& lines) const {
    for (const std::string& text : order_) {
      const said& s = all_.at(text);
      lines.push_back(list_of(s.ranks, "rank", "ranks") +
                      (s.seconds != 0 ? " (for " + std::to_string(s.seconds) + " s) " : " ") + text);
    }
  }

private:
  struct said {
    std::vector<std::uint32_t> ranks;
    std::uint64_t seconds = 0;
  };
  std::map<std::string, said> all_;
  std::vector<std::string> order_;
};

// Has the rank itself entered the operation? Nothing if it does not know the team.
std::optional<bool> entered(const rank_report& r, std::uint32_t team, std::uint64_t number) {
  for (const auto& at : r.teams)
    if (at.team == team) return at.entered >= number;
  return std::nullopt;
}

} // namespace

std::string packed(const rank_report& r) {
  std::ostringstream out;
  out << version << '\n'
      << r.rank << ' ' << r.seconds << '\n'
      << r.last_call << '\n'
      << r.flight << '\n'
      << r.place << '\n';
  out << r.waiting.size() << ' ' << r.teams.size() << '\n';
  for (const auto& b : r.waiting) {
    out << b.team << ' ' << b.number << ' ' << b.missing.size();
    for (const std::uint32_t rank : b.missing)
      out << ' ' << rank;
    out << '\n' << b.call << '\n' << b.waits << '\n';
  }
  for (const auto& at : r.teams)
    out << at.team << ' ' << at.entered << '\n';
  out << r.answers.size() << ' ' << r.answer_seconds << ' ' << r.keeps.size() << '\n';
  for (const auto* lines : {&r.answers, &r.keeps})
    for (const std::string& line : *lines)
      out << line << '\n';
  return out.str();
}

std::optional<rank_report> unpacked(const std::string& message) {
  std::istringstream in(message);
  const auto rest_of_line = [&in] {
    std::string text;
    std::getline(in, text);
    return text;
  };
  if (rest_of_line() != version) return std::nullopt;
  rank_report r;
  std::size_t waiting = 0, teams = 0;
  in >> r.rank >> r.seconds;
  rest_of_line();
  r.last_call = rest_of_line();
  r.flight = rest_of_line();
  r.place = rest_of_line();
  in >> waiting >> teams;
  rest_of_line();
  for (std::size_t k = 0; k < waiting && in; ++k) {
    rank_report::blocked b;
    std::size_t missing = 0;
    in >> b.team >> b.number >> missing;
    for (std::uint32_t rank = 0; missing != 0 && in >> rank; --missing)
      b.missing.push_back(rank);
    rest_of_line();
    b.call = rest_of_line();
    b.waits = rest_of_line();
    r.waiting.push_back(std::move(b));
  }
  for (std::size_t k = 0; k < teams && in; ++k) {
    rank_report::position at;
    in >> at.team >> at.entered;
    r.teams.push_back(at);
  }
  std::size_t answers = 0, keeps = 0;
  in >> answers >> r.answer_seconds >> keeps;
  rest_of_line();
  for (std::size_t k = 0; k < answers && in; ++k)
    r.answers.push_back(rest_of_line());
  for (std::size_t k = 0; k < keeps && in; ++k)
    r.keeps.push_back(rest_of_line());
  if (!in) return std::nullopt;
  return r;
}

std::vector<std::string> lines_of(const rank_report& r) {
  const std::string me = "rank " + std::to_string(r.rank);
  std::vector<std::string> lines;
  for (const std::string& answer : r.answers)
    lines.push_back(me + " waits for " + answer + after(r.answer_seconds));
  for (const std::string& kept : r.keeps)
    lines.push_back(me + " keeps " + kept);
  if (r.waiting.empty() && r.answers.empty()) lines.push_back(me + " waits for no collective; " + last_of(r));
  for (const auto& b : r.waiting) {
    std::string line = me + (r.seconds != 0 ? " waits" : " has outstanding") + " in " + b.call + ", " +
                       name_of(b.team, b.number);
    line += after(r.seconds) + place_of(r, b);
    if (!b.waits.empty()) line += ": " + b.waits;
    if (!b.missing.empty()) line += "; not entered by " + list_of(b.missing, "rank", "ranks");
    lines.push_back(std::move(line));
  }
  if (!r.flight.empty()) lines.push_back(me + " called before: " + r.flight);
  return lines;
}

std::vector<std::string> lines_of(const std::vector<job_member>& job) {
  std::vector<std::string> lines;
  std::map<std::uint32_t, std::string> stragglers; // why, by rank
  alike waits;
  for (const job_member& m : job) {
    if (!m.report) continue;
    for (const auto& b : m.report->waiting) {
      std::vector<std::uint32_t> missing;
      for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
        const bool said = std::find(b.missing.begin(), b.missing.end(), rank) != b.missing.end();
        const auto knows = job[rank].report ? entered(*job[rank].report, b.team, b.number) : std::nullopt;
        // A rank that has answered knows best; a far member's entry may not have been heard of.
        if (job[rank].report ? (said && knows != true) : said) missing.push_back(rank);
      }
      for (const std::uint32_t rank : missing)
        stragglers.try_emplace(rank, name_of(b.team, b.number) + ", " + b.call);
      std::string text =
          (m.report->seconds != 0 ? "in " : "outstanding: ") + b.call + ", " + name_of(b.team, b.number);
      text += place_of(*m.report, b);
      if (!b.waits.empty()) text += ": " + b.waits;
      if (!missing.empty()) text += "; not entered by " + list_of(missing, "rank", "ranks");
      waits.add(text, m.report->rank, m.report->seconds);
    }
    for (const std::string& answer : m.report->answers)
      waits.add("waiting for " + answer, m.report->rank, m.report->answer_seconds);
    for (const std::string& kept : m.report->keeps)
      waits.add("keeps " + kept, m.report->rank, 0);
  }
  for (const auto& [rank, what] : stragglers) {
    std::string line = "rank " + std::to_string(rank) + " has not entered " + what + ": ";
    const job_member& m = job[rank];
    if (!m.report)
      line += "it " + m.otherwise;
    else if (!m.report->answers.empty())
      line += "it waits for " + m.report->answers.front();
    else if (m.report->seconds != 0 && !m.report->waiting.empty())
      line += "it waits in another call, " + m.report->waiting.front().call;
    else
      line += "it is not in a call that waits; " + last_of(*m.report);
    lines.push_back(line);
  }
  for (std::uint32_t rank = 0; rank < job.size(); ++rank)
    if (!job[rank].report && !stragglers.contains(rank))
      lines.push_back("rank " + std::to_string(rank) + " " + job[rank].otherwise);
    else if (job[rank].report && job[rank].report->waiting.empty() && job[rank].report->answers.empty() &&
             !stragglers.contains(rank))
      lines.push_back("rank " + std::to_string(rank) + " waits for no collective; " +
                      last_of(*job[rank].report));
  waits.tell(lines);
  for (const job_member& m : job)
    if (m.report && !m.report->flight.empty())
      lines.push_back("rank " + std::to_string(m.report->rank) + " called before: " + m.report->flight);
  return lines;
}

} // namespace weft::boot
