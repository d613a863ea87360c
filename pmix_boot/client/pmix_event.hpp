#pragma once
// Registering for PMIx's events with an object of ours, which PMIx's handlers take no argument for.

#include "pmix_boot/client/pmix_info.hpp"

#include <cstddef>
#include <optional>

namespace weft::boot {

// The registration's number, or nothing if the launcher does not know the code. Events from before the call
// may be replayed before it returns.
std::optional<std::size_t> register_event(pmix_status_t code, void* object, pmix_notification_fn_t handler);
// No handler of the registration runs afterwards.
void deregister_event(std::size_t registration);

// In a handler: an attribute of the event, or null.
const pmix_info_t* find_info(const pmix_info_t* info, std::size_t count, const char* key);
// In a handler: the object that was registered, or null.
void* event_object(const pmix_info_t* info, std::size_t count);

} // namespace weft::boot
