// Options of the examples: each is checked, and the help tells its default.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace example {

template <class T>
void add_option(CLI::App& app, const std::string& name, T& value, const std::string& meaning,
                const CLI::Validator& valid) {
  app.add_option(name, value, meaning)->check(valid)->capture_default_str();
}

// A whole number from 1 on.
template <class T>
void add_count(CLI::App& app, const std::string& name, T& value, const std::string& meaning, int largest) {
  add_option(app, name, value, meaning, CLI::Range(1, largest));
}

} // namespace example
