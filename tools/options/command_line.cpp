// SPDX-License-Identifier: BSD-3-Clause
#include "tools/options/command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

namespace weft {

using option = command_line::option;

option& option::required() {
  added_->required();
  return *this;
}

option& option::tells_default() {
  added_->capture_default_str();
  return *this;
}

option& option::separated_by(char separator) {
  added_->delimiter(separator);
  return *this;
}

option& option::in_bytes() {
  added_->transform(CLI::AsSizeValue(false));
  return *this;
}

option& option::one_of(const std::vector<std::string>& names) {
  added_->check(CLI::IsMember(names));
  return *this;
}

option& option::between(int least, int most) {
  added_->check(CLI::Range(least, most));
  return *this;
}

option& option::positive() {
  added_->check(CLI::PositiveNumber);
  return *this;
}

option& option::not_negative() {
  added_->check(CLI::NonNegativeNumber);
  return *this;
}

option& option::valid_if(const std::function<std::string(const std::string&)>& why_not) {
  added_->check(why_not);
  return *this;
}

command_line::command_line(const std::string& purpose) : app_(std::make_unique<CLI::App>(purpose)) {}
command_line::~command_line() = default;

option command_line::add(const std::string& name, place into, const std::string& meaning) {
  return option(*std::visit([&](auto* value) { return app_->add_option(name, *value, meaning); }, into));
}

void command_line::add_flag(const std::string& name, bool& into, const std::string& meaning) {
  app_->add_flag(name, into, meaning);
}

std::optional<int> command_line::parse(int argc, char** argv, bool tells) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::ostringstream unseen;
    return tells ? app_->exit(error, std::cout, std::cerr) : app_->exit(error, unseen, unseen);
  }
}

} // namespace weft
