#pragma once
#include <cstdint>
#include <string>

// What this rank has to say: one line for the first thing that is wrong in a case, with all that replays it.
namespace differential {

class report {
public:
  report(std::uint64_t seed, std::uint32_t thread, std::uint32_t threads)
      : seed_(seed), thread_(thread), threads_(threads) {}

  // From now on it is about this case.
  void begin(std::uint64_t index);
  void wrong(const std::string& what);
  bool spoken() const { return spoken_; }
  std::uint64_t failures() const { return failures_; }

  // Ends the process with a line that says this, if the alarm goes off before the next note.
  void note(unsigned patience_seconds, const std::string& doing);
  void done();

private:
  std::string replay() const;

  std::uint64_t seed_, index_ = 0;
  std::uint32_t thread_, threads_;
  std::uint64_t failures_ = 0;
  bool spoken_ = false;
};

} // namespace differential
