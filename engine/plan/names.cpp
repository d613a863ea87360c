#include "engine/plan/names.hpp"

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
  case kind::rotate:
    return "rotate";
  case kind::compare:
    return "compare";
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
  case fact::call:
    return "call";
  case fact::ready:
    return "ready";
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
  case range::leader:
    return "my leader";
  case range::parent:
    return "parent";
  case range::children:
    return "children";
  case range::next:
    return "the next leader";
  case range::follow:
    return "my leader, stepwise";
  case range::node_rounds:
    return "rounds of nodes";
  case range::partners:
    return "partners";
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

std::string_view name(portion p) {
  switch (p) {
  case portion::block:
    return "block";
  case portion::whole:
    return "whole";
  case portion::piece:
    return "piece";
  case portion::ring:
    return "ring";
  case portion::rest:
    return "rest";
  case portion::packed:
    return "packed";
  case portion::transit:
    return "transit";
  case portion::half:
    return "half";
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
  case direction::swap:
    return "swap";
  }
  return "?";
}

std::string_view operand_word(operand o) {
  switch (o) {
  case operand::source:
    return "source";
  case operand::destination:
    return "destination";
  case operand::size:
    return "size";
  }
  return "?";
}

std::string_view lane_word(lane l) {
  switch (l) {
  case lane::any:
    return "";
  case lane::near:
    return ", if near";
  case lane::far:
    return ", if far";
  }
  return "?";
}

std::string count_word(const node& n) {
  return n.count == 0 ? "" : fmt::format(" {}", n.count);
}

// Without a count in the plan, it is what the rows say.
std::string awaited_count(const node& n) {
  const bool counter = n.about == fact::landed || n.about == fact::taken;
  return counter && n.count == 0 ? " what the rows say" : count_word(n);
}

std::string describe_portion(const node& n) {
  const std::string_view of = name(n.of);
  switch (n.what) {
  case kind::get:
  case kind::take:
    return fmt::format("{} {} from {}", name(n.what), of, peer_word(n.peer));
  case kind::put:
    return fmt::format("put {}{} to {}", of, n.from_source ? " of the source" : "", peer_word(n.peer));
  case kind::signal:
    return fmt::format("signal {} {} to {}", name(n.about), of, peer_word(n.peer));
  case kind::await:
    return fmt::format("await {} {} of {}, {} behind", name(n.about), of, peer_word(n.peer), n.count);
  default:
    return "?";
  }
}

std::string action(const node& n) {
  if (n.of != portion::block) return describe_portion(n);
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
    if (n.peer == peer_rule::self)
      return fmt::format("await {}{}{}", name(n.about), awaited_count(n), valued);
    return fmt::format("await {}{}{} from {}", name(n.about), count_word(n), valued, peer_word(n.peer));
  case kind::claim:
    return fmt::format("claim {}", way_word(n.way));
  case kind::assist:
    return "assist all";
  case kind::fetch:
    return fmt::format("fetch {} of block {} of {}", operand_word(n.which), way_word(n.way),
                       peer_word(n.peer));
  case kind::survey:
    return fmt::format("survey row of {}", peer_word(n.peer));
  case kind::aside:
    return fmt::format("take aside from {}", peer_word(n.peer));
  case kind::restore:
    return fmt::format("restore from {}", peer_word(n.peer));
  case kind::rotate:
    return n.peer == peer_rule::self ? "rotate my cycle" : "rotate all cycles";
  case kind::compare:
    return "compare the calls of all";
  case kind::loop:
    return fmt::format("{}loop over {}, {} times{}",
                       n.ordered     ? "ordered "
                       : n.pipelined ? "pipelined "
                                     : "",
                       name(n.over), n.count, n.hunts ? ", until another root is found" : "");
  }
  return "?";
}

} // namespace

std::string describe(const node& n) {
  return action(n).append(lane_word(n.only));
}

} // namespace weft::graph
