#pragma once
#include <string>

namespace weft::transport::ucx {

// What UCX may use to reach this host, as a value of its setting NET_DEVICES: the interface that leads there,
// and all ports of InfiniBand and its like, which guard memory by keys. Empty if the system knows no way.
std::string devices_towards(const std::string& host);

// Is there an adapter that reaches memory by itself?
bool has_adapters();

} // namespace weft::transport::ucx
