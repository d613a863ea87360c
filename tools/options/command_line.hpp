// SPDX-License-Identifier: BSD-3-Clause
// The options of a program. CLI11 parses them, and this front of it is compiled once: each source that
// includes CLI11 itself takes eight seconds more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace weft {

class command_line {
public:
  // What an argument is written to. It holds the default, and must live until all is parsed.
  using place =
      std::variant<int*, unsigned*, std::int64_t*, std::uint64_t*, double*, std::string*,
                   std::optional<std::uint64_t>*, std::vector<std::uint64_t>*, std::vector<std::string>*>;

  // One option, for what else there is to say of it: which arguments are refused, and how they are written.
  class option {
  public:
    option& required();
    // The help tells what is taken without it.
    option& tells_default();
    // One argument may hold several values, with this between them.
    option& separated_by(char separator);
    // A number of bytes, to which a suffix such as K or MB may be put: powers of 1024.
    option& in_bytes();
    option& one_of(const std::vector<std::string>& names);
    // Whole numbers, both ends included.
    option& between(int least, int most);
    option& positive();
    option& not_negative();
    // `why_not` returns what is wrong with an argument; nothing if it is right.
    option& valid_if(const std::function<std::string(const std::string&)>& why_not);

  private:
    friend class command_line;
    explicit option(CLI::Option& added) : added_(&added) {}
    CLI::Option* added_;
  };

  explicit command_line(const std::string& purpose);
  ~command_line();

  option add(const std::string& name, place into, const std::string& meaning = "");
  // A name behind an exclamation mark makes it false: !--no-pin.
  void add_flag(const std::string& name, bool& into, const std::string& meaning);

  // The status to end with: behind the help, which goes to the standard output, or a mistake, which goes to
  // the error output with what is wrong. Nothing if the program is to go on. What is to be seen once in a
  // job, one rank tells.
  std::optional<int> parse(int argc, char** argv, bool tells = true);

private:
  std::unique_ptr<CLI::App> app_;
};

} // namespace weft
