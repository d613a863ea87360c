// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

#include <string>
#include <string_view>

namespace weft::graph {

// The words for what a plan is made of, for messages and pictures.
std::string_view name(fact f);
std::string_view name(pattern p);
std::string_view name(sync s);
std::string_view name(buffer b);
std::string_view name(peer_rule p);
std::string_view name(direction d);
std::string_view name(descriptor d);

} // namespace weft::graph
