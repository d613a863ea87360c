#pragma once
#include <cstdint>

// The k-nomial tree over 0 .. size-1: a vertex's parent is what is left without its lowest digit in base k,
// so that no vertex has more than (k-1)*ceil(log_k size) children and none is deeper than ceil(log_k size).
namespace weft::graph::tree {

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix);
std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix);
// Largest subtrees first.
std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number);
std::uint32_t depth(std::uint32_t size, std::uint32_t radix);

} // namespace weft::graph::tree
