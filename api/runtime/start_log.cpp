#include "api/runtime/start_log.hpp"

#include "engine/log.hpp"

#include <fmt/core.h>

namespace weft::api {

namespace {

// The ranks that are on rank 0's node, or those that are not, as in "0-3, 8".
std::string ranks(const std::vector<std::uint32_t>& nodes, bool near) {
  std::string text;
  for (std::size_t first = 0; first < nodes.size(); ++first) {
    if ((nodes[first] == nodes[0]) != near) continue;
    std::size_t last = first;
    while (last + 1 < nodes.size() && (nodes[last + 1] == nodes[0]) == near)
      ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last != first) text += fmt::format("-{}", last);
    first = last;
  }
  return text.empty() ? "none" : text;
}

const char* name(progress::mode mode) {
  switch (mode) {
  case progress::mode::dedicated:
    return "dedicated";
  case progress::mode::helping:
    return "helping";
  default:
    return "caller";
  }
}

} // namespace

void start_log::ended(const char* part) {
  const auto now = clock::now();
  const double took = std::chrono::duration<double, std::milli>(now - last_).count();
  parts_ += fmt::format("{}{} {:.1f}", parts_.empty() ? "" : ", ", part, took);
  total_ += took;
  last_ = now;
}

void start_log::print(const std::vector<std::uint32_t>& nodes, progress::mode mode, const std::string& asked,
                      double cores, std::uint32_t local_ranks) const {
  engine::log(engine::severity::info,
              "lanes: thread 0 reaches threads {} by loads and stores, {} through UCX", ranks(nodes, true),
              ranks(nodes, false));
  engine::log(engine::severity::info, "progress: {} ({}; {:.1f} cores for {} threads on this node)",
              name(mode), asked == "auto" ? "chosen" : "as WEFT_PROGRESS asks", cores, local_ranks);
  engine::log(engine::severity::info, "start: {:.1f} ms ({})", total_, parts_);
}

} // namespace weft::api
