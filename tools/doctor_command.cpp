// SPDX-License-Identifier: BSD-3-Clause
// weft doctor: what would go wrong here, on this host and in this job, each with the way out.

#include "engine/format.hpp"
#include "engine/settings.hpp"
#include "pmix_boot/client/job.hpp"
#include "pmix_boot/client/launch_environment.hpp"
#include "tools/command.hpp"
#include "tools/doctor_findings.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace weft::tool {

void findings::say(const char* how, const std::string& subject, const std::string& found,
                   const std::string& way_out) {
  // One write for each finding: ranks print at the same time.
  std::string text = prints_all_ ? "" : engine::format("rank {}: ", rank_);
  text += engine::format("{:<6}{}: {}\n", how, subject, found);
  if (!way_out.empty()) text += engine::format("      -> {}\n", way_out);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void findings::good(const std::string& subject, const std::string& found) {
  if (prints_all_) say("ok", subject, found, "");
}

void findings::note(const std::string& subject, const std::string& found, const std::string& way_out) {
  ++notes_;
  if (prints_all_) say("note", subject, found, way_out);
}

void findings::wrong(const std::string& subject, const std::string& found, const std::string& way_out) {
  ++wrongs_;
  say("wrong", subject, found, way_out);
}

namespace {

// Two ranks on this host, by the launcher of this tool: whether a job starts at all.
void try_a_job(findings& f) {
  std::fflush(stdout);
  const char* const words[] = {"weft", "run", "-n", "2", "/proc/self/exe", "doctor", "--job-only", nullptr};
  pid_t child = 0;
  int status = -1;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char* const*>(words), environ) !=
          0 ||
      waitpid(child, &status, 0) != child || status != 0)
    f.wrong("job", "a trial of two ranks on this host did not end well", "the lines above say why");
}

int examine(bool job_only) {
  const bool in_job = boot::announces_a_job();
  findings f(in_job ? boot::announced_number() : "");
  if (!job_only) look_at_host(f);
  if (in_job) {
    look_at_job(f);
    // The first rank that ends so makes its launcher end the others, which may have something to say, too.
    if (f.wrongs() != 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  } else {
    try {
      boot::refuse_other_launchers();
      try_a_job(f);
    } catch (const boot::boot_error& e) {
      f.wrong("job", e.what());
    }
  }
  if (f.prints_all() && !job_only)
    engine::print(stdout, "weft doctor: {} wrong, {} to note\n", f.wrongs(), f.notes());
  return f.wrongs() == 0 ? 0 : 1;
}

} // namespace

void add_doctor_command(CLI::App& app, int& status) {
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Say what would go wrong here: versions, limits, memory, cores, networks, launchers");
  auto job_only = std::make_shared<bool>(false);
  doctor->add_flag("--job-only", *job_only, "Look at the job alone, not at the host");
  doctor->footer("Alone it looks at this host and tries a job of two ranks; in a job it looks at that one:\n"
                 "  weft doctor\n"
                 "  weft run -n 4 weft doctor\n"
                 "  srun --mpi=pmix -N 2 -n 8 weft doctor\n"
                 "The exit status is 1 if something is wrong.");
  doctor->callback([job_only, &status] { status = examine(*job_only); });
}

} // namespace weft::tool
