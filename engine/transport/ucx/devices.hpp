// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace weft::transport::ucx {

// What UCX may use to reach this host, as a value of its setting NET_DEVICES: the interface that leads there,
// and all ports of InfiniBand and its like, which guard memory by keys. Empty if the system knows no way.
std::string devices_towards(const std::string& host);

// The interface that packets to this host, or address, leave from. Empty if the system knows no way, or if it
// is this host.
std::string interface_towards(const std::string& host);
// The one of this host that has this address; empty if none has.
std::string interface_with(const std::string& address);

// What is wrong with a value of that setting on this host: it names a device that is not there, or one that
// carries nothing. Empty if nothing is, or if it has patterns, which UCX reads.
std::string wrong_devices(const std::string& named);

// Is there an adapter that reaches memory by itself?
bool has_adapters();

} // namespace weft::transport::ucx
