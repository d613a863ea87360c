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
  case range::leaders:
    return "leaders";
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

std::string_view name(buffer b) {
  switch (b) {
  case buffer::none:
    return "nothing";
  case buffer::source:
    return "source";
  case buffer::destination:
    return "destination";
  case buffer::scratch:
    return "scratch";
  case buffer::mailbox:
    return "mailbox";
  }
  return "?";
}

std::string_view name(blocks b) {
  switch (b) {
  case blocks::one:
    return "block";
  case blocks::readers:
    return "each reader's block";
  case blocks::ring:
    return "next block of the ring";
  case blocks::rest:
    return "next block of other hosts";
  case blocks::known:
    return "known blocks";
  case blocks::of_host:
    return "blocks of its host";
  case blocks::half:
    return "my half";
  case blocks::other_half:
    return "other half";
  case blocks::outgoing:
    return "outgoing blocks";
  case blocks::incoming:
    return "incoming blocks";
  case blocks::travelling:
    return "travelling blocks";
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

std::string_view operand_word(descriptor o) {
  switch (o) {
  case descriptor::source:
    return "source";
  case descriptor::destination:
    return "destination";
  case descriptor::size:
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

// Where that is not the usual: from the source to the destination, by a mailbox if it is a payload.
std::string operands_of(const node& n) {
  if (n.read.in == buffer::none) return "";
  const bool takes = n.what == kind::take, sends = n.what == kind::signal;
  std::string text;
  if (n.of != blocks::one) text += fmt::format(", {}", name(n.of));
  const bool usual_read = n.read.in == (takes ? buffer::mailbox : buffer::source);
  const bool usual_write = n.write.in == (sends ? buffer::mailbox : buffer::destination);
  const auto place = [](const operand& o) {
    return o.at <= in_mailbox ? fmt::format("{}", name(o.in)) : fmt::format("{} [{}]", name(o.in), o.at);
  };
  if (!usual_read || (n.read.at > in_mailbox && !takes)) text += fmt::format(", out of {}", place(n.read));
  if (!usual_write || (n.write.at > in_mailbox && !sends)) text += fmt::format(", into {}", place(n.write));
  return text;
}

std::string action(const node& n) {
  const std::string_view valued = n.valued ? " with value" : "";
  switch (n.what) {
  case kind::copy:
    return n.of == blocks::one ? "copy own block" : "copy";
  case kind::get:
  case kind::take:
    return fmt::format("{}{} from {}", name(n.what), valued, peer_word(n.peer));
  case kind::put:
  case kind::flush:
    return fmt::format("{} to {}", name(n.what), peer_word(n.peer));
  case kind::signal:
    return fmt::format("signal {}{}{} to {}", name(n.about), count_word(n), valued, peer_word(n.peer));
  case kind::await:
    if (n.stepwise)
      return fmt::format("await steps' {} of {}, {} behind", name(n.about), peer_word(n.peer), n.count);
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
  return action(n)
      .append(n.phase == 0 ? "" : fmt::format(", phase {}", n.phase))
      .append(operands_of(n))
      .append(lane_word(n.only));
}

} // namespace weft::graph
