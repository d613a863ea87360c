// The command-line tool `weft`.

#include "tools/command.hpp"

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"weft: collectives that go on while you compute", "weft"};
  app.footer("Examples:\n"
             "  weft run -n 4 ./app              start four ranks of ./app on this host\n"
             "  weft run --help                  options of a subcommand");
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.require_subcommand(1);
  int status = 0;
  weft::tool::add_run_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    constexpr int bad_usage = 2;
    return app.exit(error) == 0 ? 0 : bad_usage;
  }
  return status;
}
