// SPDX-License-Identifier: BSD-3-Clause
#include "tests/graph/plan_words.hpp"

namespace weft::graph {

std::string_view word(fact f) {
  switch (f) {
  case fact::none:
    return "nothing";
  case fact::entry:
    return "entry";
  case fact::payload:
    return "payload";
  case fact::delivered:
    return "delivered";
  case fact::consumed:
    return "consumed";
  case fact::stage_in:
    return "stage in";
  case fact::stage_out:
    return "stage out";
  case fact::asked:
    return "question";
  case fact::row:
    return "row";
  case fact::named:
    return "row that names it";
  case fact::call:
    return "call";
  case fact::ready:
    return "ready";
  }
  return "?";
}

std::string_view word(buffer b) {
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

std::string_view word(pattern p) {
  switch (p) {
  case pattern::none:
    return "no blocks";
  case pattern::all_pairs:
    return "all to all";
  case pattern::to_later:
    return "to later members";
  case pattern::from_root:
    return "from the root";
  case pattern::to_root:
    return "to the root";
  case pattern::by_source:
    return "rows of sources name destinations";
  case pattern::by_destination:
    return "rows of destinations name sources";
  }
  return "?";
}

std::string_view word(naming n) {
  switch (n) {
  case naming::none:
    return "nothing";
  case naming::rank:
    return "a rank";
  case naming::thread:
    return "a thread in 4 bytes";
  case naming::wide_thread:
    return "a thread in 8 bytes";
  case naming::pointer:
    return "the thread of a pointer";
  }
  return "?";
}

namespace {

std::string_view at_source(column c) {
  switch (c) {
  case column::only:
    return "at the source";
  case column::other:
    return "at the source, by destination";
  case column::own:
    return "at the source, its own";
  }
  return "?";
}
std::string_view at_destination(column c) {
  switch (c) {
  case column::only:
    return "at the destination";
  case column::other:
    return "at the destination, by source";
  case column::own:
    return "at the destination, its own";
  }
  return "?";
}

} // namespace

std::string_view word(row_element e) {
  switch (e.where) {
  case found::by_rule:
    return "of the call";
  case found::at_source:
    return at_source(e.which);
  case found::at_destination:
    return at_destination(e.which);
  }
  return "?";
}

std::string_view word(descriptor d) {
  switch (d) {
  case descriptor::source:
    return "source";
  case descriptor::destination:
    return "destination";
  case descriptor::size:
    return "size";
  }
  return "?";
}

std::string_view word(sync s) {
  return s == sync::no ? "NO" : s == sync::my ? "MY" : "ALL";
}

std::string_view word(hint h) {
  return h == hint::none ? "" : h == hint::push ? "push" : "pull";
}

} // namespace weft::graph
