#pragma once
#include "engine/collectives/families.hpp"
#include "engine/graph/verifier.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace weft::graph {

using node_map = std::vector<std::uint32_t>;

node_map one_node(std::uint32_t members);
node_map alone(std::uint32_t members);
node_map blocks_of(std::uint32_t members, std::uint32_t per_node);
node_map dealt(std::uint32_t members, std::uint32_t nodes); // like cards: member r on node r mod nodes

// The plans of all members.
std::vector<plan> compile_all(const collectives::request& r, const node_map& nodes);

inline constexpr std::array moving{collectives::operation::broadcast, collectives::operation::scatter,
                                   collectives::operation::gather, collectives::operation::gather_all,
                                   collectives::operation::exchange};

// What the texts of the UPC collectives say that an operation moves.
movement specified(const collectives::request& r);

std::string text(const collectives::request& r, const node_map& nodes);

// Every operation in every mode pair, hint and size that the suite covers.
void for_each_request(std::uint32_t members, const std::function<void(const collectives::request&)>& visit);

// Takes a node out of a plan, and a loop's body with it.
void erase(plan& p, unsigned node);

// The first node of a kind (and a fact).
unsigned find(const plan& p, kind what, fact about = fact::none);

} // namespace weft::graph
