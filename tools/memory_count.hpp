#pragma once
#include <cstdint>

namespace weft::tool {

// weft info --ranks: what a rank of such a job takes of memory, by count. Nothing is started.
void print_memory(std::uint32_t ranks, std::uint32_t nodes);

} // namespace weft::tool
