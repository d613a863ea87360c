#include "engine/graph/names.hpp"

#include <spdlog/fmt/fmt.h>

namespace weft::graph {

std::string_view name(kind k) {
  switch (k) {
  case kind::copy:
    return "copy";
  case kind::get:
    return "get";
  case kind::put:
    return "put";
  case kind::flush:
    return "flush";
  case kind::signal:
    return "signal";
  case kind::await:
    return "await";
  case kind::take:
    return "take";
  case kind::claim:
    return "claim";
  case kind::assist:
    return "assist";
  case kind::fetch:
    return "fetch";
  case kind::survey:
    return "survey";
  case kind::aside:
    return "aside";
  case kind::restore:
    return "restore";
  case kind::loop:
    return "loop";
  }
  return "?";
}

std::string_view name(fact f) {
  switch (f) {
  case fact::none:
    return "none";
  case fact::entry:
    return "entry";
  case fact::payload:
    return "payload";
  case fact::landed:
    return "landed";
  case fact::taken:
    return "taken";
  case fact::stage_in:
    return "stage_in";
  case fact::stage_out:
    return "stage_out";
  case fact::asked:
    return "asked";
  case fact::row:
    return "row";
  case fact::named:
    return "named";
  }
  return "?";
}

std::string_view name(range r) {
  switch (r) {
  case range::root:
    return "root";
  case range::near:
    return "near";
  case range::far:
    return "far";
  case range::others:
    return "others";
  case range::rounds:
    return "rounds";
  case range::named:
    return "named";
  case range::naming:
    return "naming";
  case range::led:
    return "led";
  case range::leading:
    return "leading";
  }
  return "?";
}

std::string_view name(pattern p) {
  switch (p) {
  case pattern::none:
    return "none";
  case pattern::all_pairs:
    return "all pairs";
  case pattern::from_root:
    return "from root";
  case pattern::to_root:
    return "to root";
  case pattern::by_source:
    return "by source";
  case pattern::by_destination:
    return "by destination";
  }
  return "?";
}

std::string_view name(sync s) {
  switch (s) {
  case sync::no:
    return "NO";
  case sync::my:
    return "MY";
  case sync::all:
    return "ALL";
  }
  return "?";
}

namespace {

std::string_view peer_word(peer_rule p) {
  switch (p) {
  case peer_rule::none:
    return "";
  case peer_rule::each:
    return "each";
  case peer_rule::ahead:
    return "ahead";
  case peer_rule::behind:
    return "behind";
  case peer_rule::group:
    return "group";
  case peer_rule::self:
    return "self";
  }
  return "?";
}

std::string_view way_word(direction d) {
  switch (d) {
  case direction::in:
    return "in";
  case direction::out:
    return "out";
  case direction::self:
    return "self";
  }
  return "?";
}

std::string count_word(const node& n) {
  return n.count == 0 ? "" : fmt::format(" {}", n.count);
}

} // namespace

std::string describe(const node& n) {
  const std::string_view valued = n.valued ? " with value" : "";
  switch (n.what) {
  case kind::copy:
    return "copy own block";
  case kind::get:
  case kind::take:
    return fmt::format("{}{} from {}", name(n.what), valued, peer_word(n.peer));
  case kind::put:
  case kind::flush:
    return fmt::format("{} to {}", name(n.what), peer_word(n.peer));
  case kind::signal:
    return fmt::format("signal {}{}{} to {}", name(n.about), count_word(n), valued, peer_word(n.peer));
  case kind::await:
    if (n.peer == peer_rule::self) return fmt::format("await {}{}{}", name(n.about), count_word(n), valued);
    return fmt::format("await {}{}{} from {}", name(n.about), count_word(n), valued, peer_word(n.peer));
  case kind::claim:
    return fmt::format("claim {}", way_word(n.way));
  case kind::assist:
    return "assist all";
  case kind::loop:
    return fmt::format("{}loop over {}, {} times", n.ordered ? "ordered " : "", name(n.over), n.count);
  }
  return "?";
}

} // namespace weft::graph
