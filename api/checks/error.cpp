#include "api/include/weft/error.hpp"
#include "api/checks/error_handler.hpp"

#include <utility>

namespace weft {
namespace {

std::string one_line(const std::string& call, const std::string& argument, const std::string& value,
                     const std::string& rule) {
  std::string line = call;
  const auto append = [&line](const char* separator, const std::string& part) {
    if (part.empty()) return;
    if (!line.empty()) line += separator;
    line += part;
  };
  append(": ", argument);
  append(argument.empty() ? ": " : " = ", value);
  append(": ", rule);
  return line;
}

} // namespace

error::error(std::string call_, std::string argument_, std::string value_, std::string rule_)
    : std::runtime_error(one_line(call_, argument_, value_, rule_)), call(std::move(call_)),
      argument(std::move(argument_)), value(std::move(value_)), rule(std::move(rule_)) {
  api::end_well_if_uncaught();
}

error::~error() = default;

} // namespace weft
