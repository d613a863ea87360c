// SPDX-License-Identifier: BSD-3-Clause
#include "tests/jobs/session.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>
#include <weft/weft.hpp>

namespace weft::jobs {

namespace {

// Standard output and error of this process go to a file while it lives.
class redirected {
public:
  explicit redirected(const std::string& file) {
    flush();
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      kept_[stream - 1] = fcntl(stream, F_DUPFD_CLOEXEC, 3);
      dup2(fd, stream);
    }
    close(fd);
  }
  ~redirected() {
    flush();
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
      if (kept_[stream - 1] >= 0) {
        dup2(kept_[stream - 1], stream);
        close(kept_[stream - 1]);
      }
  }
  redirected(const redirected&) = delete;
  redirected& operator=(const redirected&) = delete;

private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }
  int kept_[2] = {-1, -1};
};

} // namespace

std::vector<suite_run> read_list(const std::string& file) {
  std::vector<suite_run> runs;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    suite_run run;
    std::getline(fields, run.number, '\t');
    for (std::string word; std::getline(fields, word, '\t');)
      run.words.push_back(word);
    runs.push_back(std::move(run));
  }
  return runs;
}

int call(entry suite, const std::vector<std::string>& words) {
  std::vector<std::string> kept = words;
  std::vector<char*> argv;
  for (std::string& word : kept)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  try {
    return suite(static_cast<int>(kept.size()), argv.data());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", MYTHREAD, e.what());
  }
  return 1;
}

void play(const std::vector<suite_run>& runs, const std::string& folder) {
  const std::string me = std::to_string(MYTHREAD);
  // Each start of addr2line takes 25 ms of a core: of the ranks one alone finds it, to name the lines of
  // errors.
  if (MYTHREAD != 0) setenv("PATH", "/nowhere", 1);
  std::ofstream progress;
  if (MYTHREAD == 0) progress.open(folder + "/progress", std::ios::app);
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  for (const suite_run& run : runs) {
    weft_barrier();
    if (MYTHREAD == 0) progress << "begin " << run.number << std::endl;
    int status = 0;
    {
      const redirected output(folder + "/" + run.number + "." + me);
      status = call(find(suites, run.words[0]), run.words);
      if (status != 0)
        std::fprintf(stderr, "rank %s of %s: failed with status %d\n", me.c_str(), run.words[0].c_str(),
                     status);
    }
    if (status != 0) std::ofstream(folder + "/failed." + run.number);
    weft_set_error_handler(nullptr);
    alarm(0);
    sched_setaffinity(0, sizeof cores, &cores);
    const int worst = weft::reduce_all(status == 0 ? 0 : 1, UPC_MAX).get();
    if (MYTHREAD == 0) progress << "end " << run.number << ' ' << worst << std::endl;
  }
}

} // namespace weft::jobs
