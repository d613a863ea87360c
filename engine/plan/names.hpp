#pragma once
#include "engine/plan/plan.hpp"

#include <string>
#include <string_view>

namespace weft::graph {

// The words for what a plan is made of, for messages and pictures.
std::string_view name(kind k);
std::string_view name(fact f);
std::string_view name(range r);
std::string_view name(pattern p);
std::string_view name(sync s);
std::string_view name(buffer b);
std::string_view name(blocks b);

// A node in a few words, its peer as a rule: "get from each", "await landed 12", "claim in, if near".
std::string describe(const node& n);

} // namespace weft::graph
