#include "pmix_boot/client/pmix_event.hpp"

#include <pmix.h>

#include <future>

namespace weft::boot {

// PMIx's own blocking form works on its tables in the calling thread, beside its progress thread; with a
// callback it does not.
std::optional<std::size_t> register_event(pmix_status_t code, void* object, pmix_notification_fn_t handler) {
  using answer = std::promise<std::optional<std::size_t>>;
  answer registered;
  const auto done = [](pmix_status_t status, std::size_t number, void* data) {
    static_cast<answer*>(data)->set_value(status == PMIX_SUCCESS ? std::optional(number) : std::nullopt);
  };
  info_array directives;
  directives.add_pointer(PMIX_EVENT_RETURN_OBJECT, object);
  const pmix_status_t status =
      PMIx_Register_event_handler(&code, 1, directives.data(), directives.size(), handler, done, &registered);
  if (status != PMIX_SUCCESS) return std::nullopt;
  return registered.get_future().get();
}

void deregister_event(std::size_t registration) {
  PMIx_Deregister_event_handler(registration, nullptr, nullptr);
}

const pmix_info_t* find_info(const pmix_info_t* info, std::size_t count, const char* key) {
  for (std::size_t i = 0; i < count; ++i)
    if (PMIX_CHECK_KEY(&info[i], key)) return &info[i];
  return nullptr;
}

void* event_object(const pmix_info_t* info, std::size_t count) {
  const pmix_info_t* object = find_info(info, count, PMIX_EVENT_RETURN_OBJECT);
  return object == nullptr ? nullptr : object->value.data.ptr;
}

} // namespace weft::boot
