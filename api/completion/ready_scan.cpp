// SPDX-License-Identifier: BSD-3-Clause
#include "api/completion/ready_scan.hpp"

#include <algorithm>

namespace weft::api {

bool any_active(std::span<const upc_coll_handle_t> handles, std::size_t first) noexcept {
  const auto active = [](upc_coll_handle_t h) { return h != UPC_HANDLE_COMPLETE; };
  return std::ranges::any_of(handles.subspan(first), active) ||
         std::ranges::any_of(handles.first(first), active);
}

bool ready_scan::look(progress::look how) noexcept {
  if (completions_moved()) {
    if (search(first_, std::min(glance, handles_.size()))) return true;
    left_ = handles_.size() > glance ? handles_.size() : 0;
    idle_ = 0;
  } else if (left_ == 0) {
    return false;
  }
  const bool in_parts = how == progress::look::part && idle_++ < patience;
  const std::size_t part = in_parts ? std::min(left_, glance) : left_;
  if (search(round_, part)) return true;
  left_ -= part;
  round_ = behind(round_, part);
  return left_ == 0 && !any_active(handles_, first_);
}

bool ready_scan::look_at_all() noexcept {
  if (!completions_moved() && left_ == 0) return false;
  left_ = 0;
  return search(first_, handles_.size());
}

bool ready_scan::search(std::size_t begin, std::size_t count) noexcept {
  while (count != 0) {
    const std::size_t piece = std::min(count, handles_.size() - begin);
    const std::size_t at = rt_.find_ready(handles_.subspan(begin, piece));
    if (at != piece) {
      found_ = begin + at;
      return true;
    }
    begin = behind(begin, piece);
    count -= piece;
  }
  return false;
}

bool ready_scan::completions_moved() noexcept {
  const std::uint64_t now = rt_.completions();
  if (looked_ && now == seen_) return false;
  looked_ = true;
  seen_ = now;
  return true;
}

} // namespace weft::api
