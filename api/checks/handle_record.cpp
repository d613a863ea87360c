// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/handle_record.hpp"

#include "api/checks/failure.hpp"
#include "engine/log.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::api::handle_record {

bool on = false;

namespace {

constexpr std::size_t kept = 1024;    // handles that were completed last
constexpr std::size_t most_named = 4; // calls of a line

// A call in the program. Its texts are of the program or the library, and last.
struct origin {
  const char* call = "";
  line_of_call at;
  friend bool operator==(const origin& a, const origin& b) {
    return std::string_view(a.call) == b.call && a.at.line == b.at.line &&
           std::string_view(a.at.file) == b.at.file;
  }
};
struct counted {
  origin from;
  std::size_t times = 0;
};
struct completed {
  handle of = 0;
  origin from;
};

std::mutex lock; // what follows
std::unordered_map<handle, origin> open_handles;
std::array<completed, kept> latest; // a handle's place is its remainder
std::vector<counted> twice;         // by the call that posted it
std::string first_second_use;

origin from_here(const char* call) {
  return {call, detail::site != nullptr ? *detail::site : line_of_call{}};
}
std::string text_of(const origin& o) {
  std::string text = o.call;
  if (o.at.line == 0) return text;
  const std::string_view file = o.at.file;
  return text.append(" (")
      .append(file.substr(file.rfind('/') + 1))
      .append(":" + std::to_string(o.at.line) + ")");
}
void count(std::vector<counted>& all, const origin& o) {
  const auto found = std::ranges::find_if(all, [&](const counted& c) { return c.from == o; });
  if (found == all.end())
    all.push_back({o, 1});
  else
    ++found->times;
}
std::string list_of(std::vector<counted>& all) {
  std::ranges::stable_sort(all, std::ranges::greater(), &counted::times);
  std::string text;
  for (std::size_t k = 0; k != std::min(all.size(), most_named); ++k) {
    if (k != 0) text += ", ";
    text += text_of(all[k].from);
    if (all[k].times > 1) text.append(" ").append(std::to_string(all[k].times)).append(" times");
  }
  if (all.size() > most_named) text += " and of " + std::to_string(all.size() - most_named) + " calls more";
  return text;
}

} // namespace

void open(const runtime& rt) {
  on = rt.checks_calls();
}

void close() noexcept {
  on = false;
  const std::lock_guard guard(lock);
  open_handles.clear();
  twice.clear();
  latest.fill({});
}

// The operation is posted, or complete: without memory for a record the call goes on, and the record is left
// out.
void note(const char* call, handle h) {
  const std::lock_guard guard(lock);
  try {
    open_handles.insert_or_assign(h, from_here(call));
  } catch (const std::bad_alloc&) {
  }
}

namespace {

bool of_a_copy(std::string_view call) {
  return call == "weft_waitany_for";
}

} // namespace

void begin_completing(const char* call, handle h) {
  if (of_a_copy(call)) return;
  const std::lock_guard guard(lock);
  const completed& last = latest[h % kept];
  if (last.of != h) return;
  try {
    if (twice.empty()) first_second_use = text_of(from_here(call));
    count(twice, last.from);
  } catch (const std::bad_alloc&) {
  }
}

void end_completing(const char* call, handle h) {
  const std::lock_guard guard(lock);
  if (const auto node = open_handles.extract(h); node && !of_a_copy(call))
    latest[h % kept] = {h, node.mapped()};
}

void tell(std::uint32_t rank) {
  const std::lock_guard guard(lock);
  if (!open_handles.empty()) {
    std::vector<counted> lost;
    for (const auto& [h, from] : open_handles)
      count(lost, from);
    engine::log(
        engine::severity::warn,
        "rank {}: {} that no call has completed, of {}: wait for each, by upc_wait and its like, or let "
        "its weft::pending end",
        rank, open_handles.size() == 1 ? "a handle" : std::to_string(open_handles.size()) + " handles",
        list_of(lost));
  }
  if (!twice.empty())
    engine::log(engine::severity::warn,
                "rank {}: a handle was completed again, of {}; first by {}: it was complete already, and a "
                "copy of it "
                "waits for nothing",
                rank, list_of(twice), first_second_use);
}

} // namespace weft::api::handle_record
