#pragma once
#include <cstddef>
#include <string>

namespace weft::transport::ucx {

// Where UCX is to allocate a segment of so many bytes, as a value of its setting ALLOC_PRIO. Left to itself
// UCX tries one kind of memory after the other, and the file in /dev/shm it fills with zeros to see whether
// there is room: minutes, and all memory of the host. Here the system is asked first. Throws
// std::runtime_error, in one line with the way out, if there is no room for the `ranks` of this host.
std::string place_for_segment(std::size_t bytes, std::size_t ranks);

} // namespace weft::transport::ucx
